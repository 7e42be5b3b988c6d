#include "study/directory/original_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "study/argument_template.h"

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
bool are_all_among(const Keys& keys, const std::vector<std::string>& different) {
  return std::all_of(different.begin(), different.end(), [&](const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  });
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

/// The keys whose values differ, apart from comments and layout.
std::vector<std::string> different_keys(const YAML::Node& original, const YAML::Node& read) {
  std::set<std::string> keys;
  for (const YAML::Node& node : {original, read}) {
    for (const auto& entry : node) keys.insert(entry.first.Scalar());
  }
  std::vector<std::string> different;
  for (const std::string& key : keys) {
    const bool is_open =
        !original[key] && std::find(kChosen.begin(), kChosen.end(), key) != kChosen.end();
    if (is_open) continue;
    if (YAML::Dump(original[key]) != YAML::Dump(read[key])) different.push_back(key);
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

bool is_newer(const fs::path& file, const fs::path& other) {
  std::error_code error, error_of_other;
  const auto time = fs::last_write_time(file, error);
  const auto time_of_other = fs::last_write_time(other, error_of_other);
  return !error && !error_of_other && time > time_of_other;
}

/// Whether the same is measured, in the same way; formulas may come and go.
bool measure_the_same(const Study& a, const Study& b) {
  const auto measured = [](const Study& study) {
    std::set<std::pair<std::string, std::string>> responses;
    for (const Response& response : study.responses) {
      if (response.formula.empty()) responses.emplace(response.name, response.pattern);
    }
    return responses;
  };
  return measured(a) == measured(b);
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

}  // namespace

void take_up_original(StudyDirectory& directory) {
  const std::optional<fs::path> file = original_of(directory);
  const fs::path read = directory.path / "study.yaml";
  if (!file || !is_newer(*file, read)) return;
  std::optional<Edited> found = edited(*file, directory);
  if (!found || !are_all_among(kTakenUp, found->keys)) return;
  Study& study = directory.study;
  if (!measure_the_same(found->original, study)) return;
  keep_chosen_fit(study, found->original);
  study.responses = std::move(found->original.responses);
  study.model = std::move(found->original.model);
  study.model_name = std::move(found->original.model_name);
  study.fit = std::move(found->original.fit);
  study.feasibility = found->original.feasibility;
  study.confirmation_runs = found->original.confirmation_runs;
  directory.taken_up =
      fmt::format("{} was edited after {}; taken from the former: {}",
                  fs::proximate(*file).string(), read.string(), fmt::join(found->keys, ", "));
}

std::optional<std::string> changed_runs(const StudyDirectory& directory) {
  const std::optional<fs::path> file = original_of(directory);
  if (!file || !is_newer(*file, directory.path / "study.yaml")) return std::nullopt;
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
