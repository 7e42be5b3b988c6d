#include "study/directory/original_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "study/argument_template.h"
#include "study/experimental_region.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

/// What can be changed after planning; everything else determines the runs.
constexpr std::array<std::string_view, 7> kEditable{
    "responses", "model", "fit", "feasibility", "infeasible_when", "run", "confirm"};

/// What is taken from the original: the analysis, but not how runs are executed.
constexpr std::array<std::string_view, 5> kTakenUp{"responses", "model", "fit", "feasibility",
                                                   "confirm"};

template <typename Keys>
bool is_among(const Keys& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

template <typename Keys>
bool are_all_among(const Keys& keys, const std::vector<std::string>& different) {
  return std::all_of(different.begin(), different.end(),
                     [&](const std::string& key) { return is_among(keys, key); });
}

/// The file that `doetune plan` takes for this directory unless -o names another.
std::optional<fs::path> original_of(const StudyDirectory& directory) {
  std::error_code error;
  const std::string name = fs::canonical(directory.path, error).filename().string();
  if (error || name.empty()) return std::nullopt;
  for (const char* ending : {".yaml", ".yml"}) {
    fs::path file = directory.working_directory / (name + ending);
    if (fs::is_regular_file(file, error)) return file;
  }
  return std::nullopt;
}

/// Where the original leaves these open, a search chose what the directory has.
constexpr std::array<std::string_view, 2> kChosen{"design", "fit"};

/// What programs are given as it is written: 8.0 is not 8 there.
constexpr std::array<std::string_view, 2> kVerbatim{"command", "settings"};

bool same_scalar(const std::string& a, const std::string& b, bool verbatim) {
  const auto number = parse_number(a), other = parse_number(b);
  return a == b || (!verbatim && number && number == other);
}

/// Apart from comments and layout.
bool same_value(const YAML::Node& a, const YAML::Node& b, bool verbatim) {
  if (!a || !b || a.Type() != b.Type() || a.size() != b.size()) return !a && !b;
  if (a.IsScalar()) return same_scalar(a.Scalar(), b.Scalar(), verbatim);
  if (a.IsSequence()) {
    return std::equal(a.begin(), a.end(), b.begin(), [&](const YAML::Node& one, const auto& other) {
      return same_value(one, other, verbatim);
    });
  }
  return std::all_of(a.begin(), a.end(), [&](const auto& entry) {
    return same_value(entry.second, b[entry.first.Scalar()], verbatim);
  });
}

/// The keys whose values differ.
std::vector<std::string> different_keys(const YAML::Node& original, const YAML::Node& read) {
  std::set<std::string> keys;
  for (const YAML::Node& node : {original, read}) {
    for (const auto& entry : node) keys.insert(entry.first.Scalar());
  }
  std::vector<std::string> different;
  for (const std::string& key : keys) {
    const bool is_open = !original[key] && is_among(kChosen, key);
    if (is_open || same_value(original[key], read[key], is_among(kVerbatim, key))) continue;
    different.push_back(key);
  }
  return different;
}

/// The original and the keys in which it differs from what the directory has; empty if it does not.
struct Edited {
  Study original;
  std::vector<std::string> keys;
};

std::optional<Edited> edited(const fs::path& file, const StudyDirectory& directory) {
  try {
    Edited found{load_study(file), {}};
    if (found.original.text == directory.study.text) return std::nullopt;
    found.keys = different_keys(YAML::Load(found.original.text), YAML::Load(directory.study.text));
    if (found.keys.empty()) return std::nullopt;
    return found;
  } catch (const std::exception&) {
    return std::nullopt;  // being edited, or another file: `plan` reports its errors
  }
}

/// What is measured, and how; formulas may come and go.
std::map<std::string, std::string> measured(const Study& study) {
  std::map<std::string, std::string> responses;
  for (const Response& response : study.responses) {
    if (response.formula.empty()) responses.emplace(response.name, response.pattern);
  }
  return responses;
}

/// The first entry that only one of them has, or with another value; empty without any.
std::string different_entry(const std::map<std::string, std::string>& a,
                            const std::map<std::string, std::string>& b) {
  for (const auto& [some, others] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const auto& [key, text] : *some) {
      const auto other = others->find(key);
      if (other == others->end() || other->second != text) return key;
    }
  }
  return "";
}

[[noreturn]] void fail_different(const StudyDirectory& directory, const Study& edited,
                                 const std::string& key) {
  throw StudyError(fmt::format(
      "{}: {} differs from that of the study in {}: use another directory, or remove that one",
      edited.location(key), key, directory.path.string()));
}

std::string in_flow_style(YAML::Node node) {
  node.SetStyle(YAML::EmitterStyle::Flow);
  return YAML::Dump(node);
}

/// The fits of responses that the original leaves open are the directory's own.
void keep_chosen_fit(const Study& of_directory, Study& original) {
  const YAML::Node read = YAML::Load(original.text);
  if (read["fit"]) return;
  original.fit = of_directory.fit;
  for (Response& response : original.responses) {
    if (!read["responses"][response.name]["fit"]) response.fit = of_directory.fit;
  }
}

/// The text of the edited study with what a search chose.
std::string text_with_chosen(const StudyDirectory& directory, const Study& edited) {
  const YAML::Node given = YAML::Load(edited.text), read = YAML::Load(directory.study.text);
  std::string text = edited.text;
  for (const std::string_view chosen : kChosen) {
    const std::string key(chosen);
    if (!given[key] && read[key])
      add_key(text, key, in_flow_style(read[key]), "chosen by the search");
  }
  return text;
}

/// Throws StudyError unless a directory opens with this text instead of its study.yaml.
void check_opens(const StudyDirectory& directory, const Study& edited, const std::string& text) {
  const Study study = parse_study(text, directory.path / "study.yaml");
  for (const std::string_view chosen : kChosen) {
    const std::string key(chosen);
    if (study.locations.contains(key) || !directory.study.locations.contains(key)) continue;
    throw StudyError(fmt::format("{}: {} cannot be added after the text; remove what follows it",
                                 edited.file.string(), key));
  }
  const std::string csv = plan_csv(directory.study, directory.plan);
  if (sheet_hash(study, csv) == sheet_hash(directory.study, csv)) return;
  fail_different(directory, edited, "what a run executes");
}

}  // namespace

bool is_newer(const fs::path& file, const fs::path& directory) {
  std::error_code error, error_of_other;
  const auto time = fs::last_write_time(file, error);
  const auto time_of_other = fs::last_write_time(directory / "study.yaml", error_of_other);
  return !error && !error_of_other && time > time_of_other;
}

void take_up_original(StudyDirectory& directory) {
  const std::optional<fs::path> file = original_of(directory);
  if (!file || !is_newer(*file, directory.path)) return;
  std::optional<Edited> found = edited(*file, directory);
  if (!found || !are_all_among(kTakenUp, found->keys)) return;
  Study& study = directory.study;
  if (measured(found->original) != measured(study)) return;
  keep_chosen_fit(study, found->original);
  study.responses = std::move(found->original.responses);
  study.model = std::move(found->original.model);
  study.model_name = std::move(found->original.model_name);
  study.fit = std::move(found->original.fit);
  study.feasibility = found->original.feasibility;
  study.confirmation_runs = found->original.confirmation_runs;
  directory.taken_up = fmt::format(
      "{} was edited after {}; taken from the former: {}", fs::proximate(*file).string(),
      (directory.path / "study.yaml").string(), fmt::join(found->keys, ", "));
}

std::vector<std::string> edited_keys(const StudyDirectory& directory, const Study& edited) {
  std::string key =
      different_entry(experimental_region(edited), experimental_region(directory.study));
  if (!key.empty()) fail_different(directory, edited, key);
  key = different_entry(measured(edited), measured(directory.study));
  if (!key.empty()) fail_different(directory, edited, "responses." + key);
  std::vector<std::string> keys =
      different_keys(YAML::Load(edited.text), YAML::Load(directory.study.text));
  for (const std::string& different : keys) {
    if (!is_among(kEditable, different)) fail_different(directory, edited, different);
  }
  return keys;
}

void edit_study(StudyDirectory& directory, const Study& edited) {
  edited_keys(directory, edited);
  const std::string text = text_with_chosen(directory, edited);
  check_opens(directory, edited, text);
  const DirectoryLock lock(directory.path);
  check_is_current(directory);
  write_file_durably(directory.path / "study.yaml", text);
  directory = open_directory(directory.path);
}

std::optional<std::string> changed_runs(const StudyDirectory& directory) {
  const std::optional<fs::path> file = original_of(directory);
  if (!file || !is_newer(*file, directory.path)) return std::nullopt;
  const std::optional<Edited> found = edited(*file, directory);
  if (!found || are_all_among(kEditable, found->keys)) return std::nullopt;
  return edited_original(directory);
}

std::optional<std::string> edited_original(const StudyDirectory& directory) {
  if (directory.taken_up) return directory.taken_up;
  const std::optional<fs::path> file = original_of(directory);
  if (!file) return std::nullopt;
  const fs::path read = directory.path / "study.yaml";
  const std::optional<Edited> found = edited(*file, directory);
  if (!found) return std::nullopt;
  const bool editable = are_all_among(kEditable, found->keys);
  const std::string from = shell_quoted(fs::proximate(*file).string());
  return fmt::format(
      "{} differs from {}, the file in use, in: {}; {}", from, read.string(),
      fmt::join(found->keys, ", "),
      editable
          ? fmt::format("`cp {} {}` applies the changes", from, shell_quoted(read.string()))
          : fmt::format("runs cannot be changed after planning: `doetune plan {} -o OTHER` "
                        "makes a new plan, and `doetune import` brings in the runs of results.csv",
                        from));
}

}  // namespace doetune::study
