#include "runner/conditions/store.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/bounded_file.h"
#include "base/untrusted_json.h"
#include "runner/attempts/attempt.h"
#include "runner/conditions/conditions.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;

constexpr auto kFresh = std::chrono::minutes(10);

/// A host name as part of a file name.
std::string plain(std::string host) {
  std::replace_if(
      host.begin(), host.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; }, '_');
  return host;
}

fs::path host_file(const fs::path& directory, const std::string& host) {
  return directory / ("host-" + plain(host) + ".json");
}

bool is_id(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

}  // namespace

void note_conditions(const fs::path& study_directory, const fs::path& working_directory,
                     const std::map<std::string, std::string>& environment) {
  const fs::path file = host_file(study_directory / "conditions", node_name());
  std::error_code missing;
  const auto written = fs::last_write_time(file, missing);
  const auto age = fs::file_time_type::clock::now() - written;
  const bool fresh = age >= fs::file_time_type::duration::zero() && age < kFresh;
  if (!missing && fresh) return;  // a file from the future is outdated: the clock was set back
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  try {
    study::write_file_atomically(
        file, read_conditions(working_directory, environment)
                      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
                  "\n");
  } catch (const study::DirectoryError&) {
    return;  // disk full: runs may still succeed
  }
}

ConditionsStore::ConditionsStore(fs::path study_directory)
    : directory_(std::move(study_directory) / "conditions") {}

std::string ConditionsStore::id_of(const std::string& host) {
  const fs::path file = host_file(directory_, host);
  std::error_code missing;
  const auto written = fs::last_write_time(file, missing);
  if (missing) return "";
  auto& [seen, id] = known_[host];
  if (seen == written) return id;
  const auto text = read_bounded(file, kMaxJsonBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  const auto found = object ? object->find("conditions_id") : nlohmann::json::const_iterator();
  if (!object || found == object->end() || !found->is_string()) return "";
  const std::string name = found->get<std::string>();
  if (!is_id(name)) return "";
  try {
    const fs::path kept = directory_ / (name + ".json");
    if (!fs::exists(kept, missing)) study::write_file_durably(kept, *text);
  } catch (const study::DirectoryError&) {
    return "";
  }
  seen = written;
  id = name;
  return id;
}

}  // namespace doetune::runner
