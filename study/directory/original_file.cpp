#include "study/directory/original_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "study/argument_template.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

/// What can be changed after planning; everything else determines the runs.
constexpr std::array<std::string_view, 5> kEditable{"responses", "model", "fit", "run", "confirm"};

bool is_editable(const std::string& key) {
  return std::find(kEditable.begin(), kEditable.end(), key) != kEditable.end();
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

}  // namespace

std::optional<std::string> edited_original(const StudyDirectory& directory) {
  const std::optional<fs::path> file = original_of(directory);
  if (!file) return std::nullopt;
  const fs::path read = directory.path / "study.yaml";
  std::vector<std::string> different;
  try {
    const Study original = load_study(*file);
    if (original.text == directory.study.text) return std::nullopt;
    different = different_keys(YAML::Load(original.text), YAML::Load(directory.study.text));
  } catch (const std::exception&) {
    return std::nullopt;  // being edited, or another file: `plan` reports its errors
  }
  if (different.empty()) return std::nullopt;
  const bool editable = std::all_of(different.begin(), different.end(), is_editable);
  const std::string from = shell_quoted(fs::proximate(*file).string());
  return fmt::format(
      "{} differs from {}, which is what is read, in: {}; {}", from, read.string(),
      fmt::join(different, ", "),
      editable ? fmt::format("`cp {} {}` takes the changes up", from, shell_quoted(read.string()))
               : fmt::format("runs cannot be changed after planning: `doetune plan {} -o OTHER` "
                             "plans anew, and `doetune import` takes the runs of results.csv along",
                             from));
}

}  // namespace doetune::study
