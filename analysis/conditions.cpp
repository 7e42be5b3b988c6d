#include "analysis/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "analysis/format.h"
#include "study/files.h"

namespace doetune::analysis {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMaxBytes = 1 << 20;
constexpr std::size_t kReadable = 60;  // maximum length of a value
constexpr const char* kInherited = "/environment/inherited/";

/// Whether a text is a valid ID. Being part of a file name, it must be a hexadecimal hash.
bool is_id(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Json read_document(const std::filesystem::path& study_directory, const std::string& id) {
  if (!is_id(id)) return nullptr;
  const std::filesystem::path file = study_directory / "conditions" / (id + ".json");
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error || size > kMaxBytes) return nullptr;
  try {
    Json document = Json::parse(study::read_file(file));
    return document.is_object() ? document : Json(nullptr);
  } catch (const std::exception&) {
    return nullptr;
  }
}

/// The value at a path such as "/cpu/model" as text; empty if there is none.
std::string value_at(const Json& document, const char* path) {
  const Json::json_pointer pointer(path);
  if (!document.contains(pointer) || document.at(pointer).is_null()) return "";
  const Json& value = document.at(pointer);
  std::string text = value.is_string() ? value.get<std::string>()
                                       : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kReadable) text = text.substr(0, kReadable) + "...";
  return text;
}

std::string gpus_text(const Json& document) {
  std::map<std::string, int> counts;
  if (document.contains("gpus") && document["gpus"].is_array()) {
    for (std::size_t g = 0; g < document["gpus"].size(); ++g) {
      ++counts[value_at(document, fmt::format("/gpus/{}/name", g).c_str())];
    }
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} x {}", count, name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string with_words(const char* before, const std::string& value, const char* after = "") {
  return value.empty() ? "" : before + value + after;
}

std::string joined(std::vector<std::string> parts, const char* between) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, between));
}

/// "gpus 0 power limit W" for "/gpus/0/power_limit_W".
std::string words_of(const std::string& path) {
  std::string words = path.substr(1);
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '/' || c == '_'; }, ' ');
  return words;
}

bool counts(const std::string& path) {
  return path != "/conditions_id" && path.find("/now/") == std::string::npos &&
         !path.ends_with("/uuid") && !path.starts_with(kInherited);
}

/// The paths of the values in all documents that satisfy `is_wanted`.
template <typename Wanted>
std::set<std::string> paths_of(const std::vector<RunConditions>& conditions,
                               const Wanted& is_wanted) {
  std::set<std::string> paths;
  for (const RunConditions& one : conditions) {
    if (one.document.is_null()) continue;
    const Json flat = one.document.flatten();
    for (const auto& [path, value] : flat.items()) {
      if (is_wanted(path)) paths.insert(path);
    }
  }
  return paths;
}

/// The runs by the value of their conditions at a path; omits conditions without a document.
std::map<std::string, std::vector<int>> runs_by_value(const std::vector<RunConditions>& conditions,
                                                      const std::string& path) {
  std::map<std::string, std::vector<int>> runs;
  for (const RunConditions& one : conditions) {
    if (one.document.is_null()) continue;
    std::vector<int>& same = runs[value_at(one.document, path.c_str())];
    same.insert(same.end(), one.runs.begin(), one.runs.end());
  }
  for (auto& [value, same] : runs) std::sort(same.begin(), same.end());
  return runs;
}

std::vector<std::string> value_differences(const std::vector<RunConditions>& conditions) {
  std::vector<std::string> found;
  for (const std::string& path : paths_of(conditions, counts)) {
    const auto runs = runs_by_value(conditions, path);
    if (runs.size() < 2) continue;
    std::vector<std::string> values;
    for (const auto& [value, same] : runs) {
      values.push_back(
          fmt::format("{} ({})", value.empty() ? "not known" : value, runs_text(same)));
    }
    found.push_back(fmt::format("{}: {}", words_of(path), fmt::join(values, ", ")));
  }
  return found;
}

std::vector<std::string> variable_differences(const std::vector<RunConditions>& conditions) {
  std::vector<std::string> names;
  for (const std::string& path :
       paths_of(conditions, [](const std::string& path) { return path.starts_with(kInherited); })) {
    if (runs_by_value(conditions, path).size() > 1) {
      names.push_back(path.substr(std::string(kInherited).size()));
    }
  }
  if (names.empty()) return {};
  return {fmt::format("environment: {}", fmt::join(names, ", "))};
}

}  // namespace

std::vector<RunConditions> run_conditions(const std::filesystem::path& study_directory,
                                          const std::map<int, study::RunRecord>& records) {
  std::vector<RunConditions> conditions;
  std::map<std::string, std::size_t> positions;
  for (const auto& [run, record] : records) {
    if (record.conditions.empty()) continue;
    const auto [position, is_new] = positions.emplace(record.conditions, conditions.size());
    if (is_new) {
      conditions.push_back(
          {record.conditions, {}, {}, read_document(study_directory, record.conditions)});
    }
    RunConditions& own = conditions[position->second];
    own.runs.push_back(run);
    if (!record.host.empty()) own.hosts.insert(record.host);
  }
  return conditions;
}

std::string conditions_text(const RunConditions& conditions) {
  const Json& of = conditions.document;
  const std::string hosts = fmt::format("{}", fmt::join(conditions.hosts, ", "));
  if (of.is_null()) return joined({hosts, "not kept"}, ": ");
  const std::string driver =
      joined({gpus_text(of), with_words("driver ", value_at(of, "/gpu_driver/version")),
              with_words("CUDA ", value_at(of, "/gpu_driver/cuda"))},
             ", ");
  const std::string processors = joined(
      {value_at(of, "/cpu/model"), with_words("", value_at(of, "/cpu/usable"), " processors")},
      ", ");
  const bool changed = value_at(of, "/source/dirty") == "true";
  const std::string source =
      with_words("git revision ", value_at(of, "/source/revision").substr(0, 12),
                 changed ? " with uncommitted changes" : "");
  const std::string text =
      joined({driver, processors, value_at(of, "/system/kernel"), source}, "; ");
  return joined({hosts, text}, ": ");
}

std::vector<std::string> condition_differences(const std::vector<RunConditions>& conditions) {
  constexpr std::size_t kMax = 8;
  std::vector<std::string> found = value_differences(conditions);
  if (found.empty()) found = variable_differences(conditions);
  if (found.size() > kMax) {
    const std::size_t more = found.size() - kMax + 1;
    found.resize(kMax - 1);
    found.push_back(fmt::format("and {} more", more));
  }
  return found;
}

}  // namespace doetune::analysis
