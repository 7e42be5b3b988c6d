#include "runner/attempts/attempt_file.h"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "base/bounded_file.h"
#include "base/json_format.h"
#include "base/untrusted_json.h"
#include "runner/attempts/workload.h"
#include "runner/processes/program.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr const char* kFile = "attempt.json";

/// The fields of attempt.json, for reading and writing.
template <class Visit>
void for_each_field(const Visit& visit) {
  visit("name", &Attempt::name);
  visit("program", &Attempt::program);
  visit("arguments", &Attempt::arguments);
  visit("environment", &Attempt::environment);
  visit("working_directory", &Attempt::working_directory);
  visit("host", &Attempt::host);
  visit("gpus", &Attempt::gpus);
  visit("gpus_wanted", &Attempt::gpus_wanted);
  visit("cpus", &Attempt::cpus);
  visit("processes", &Attempt::processes);
  visit("time_limit_s", &Attempt::time_limit_s);
  visit("stop_grace_s", &Attempt::stop_grace_s);
  visit("hang_after_s", &Attempt::hang_after_s);
  visit("memory_limit_bytes", &Attempt::memory_limit_bytes);
  visit("telemetry_hz", &Attempt::telemetry_hz);
  visit("heartbeat_s", &Attempt::heartbeat_s);
  visit("server", &Attempt::server);
}

template <class Value>
void read_field(const nlohmann::json& json, Value& value) {
  json.get_to(value);
}

template <class Value>
void read_field(const nlohmann::json& json, std::optional<Value>& value) {
  if (!json.is_null()) value = json.get<Value>();
}

Attempt attempt_from_json(const nlohmann::json& object) {
  Attempt attempt;
  for_each_field([&](const char* key, auto field) { read_field(object.at(key), attempt.*field); });
  return attempt;
}

}  // namespace

void write_attempt(const Attempt& attempt) {
  json::Value object;
  for_each_field([&](const char* key, auto field) {
    object[key] = json::written(attempt.*field, json::Plain());
  });
  study::write_file_durably(attempt.directory / kFile, json::text_of(object));
}

Attempt read_attempt(const std::filesystem::path& directory) {
  const auto file = directory / kFile;
  const auto text = read_bounded(file, kMaxJsonBytes);
  if (!text) throw study::DirectoryError(fmt::format("{}: cannot be read", file.string()));
  try {
    Attempt attempt = attempt_from_json(nlohmann::json::parse(*text));
    attempt.directory = directory;
    return attempt;
  } catch (const nlohmann::json::exception& error) {
    throw study::DirectoryError(fmt::format("{}: not an attempt: {}", file.string(), error.what()));
  }
}

Attempt as_found_here(Attempt attempt) {
  namespace fs = std::filesystem;
  if (attempt.working_directory.empty()) attempt.working_directory = fs::current_path();
  if (attempt.program.is_relative()) {
    attempt.program =
        find_program(attempt.program, attempt.working_directory, search_path(attempt.environment));
  }
  if (is_executable(attempt.program)) return attempt;
  std::vector<fs::path> directories = workload_directories();
  directories.push_back(program_beside(""));
  for (const fs::path& directory : directories) {
    const fs::path program = directory / attempt.program.filename();
    if (is_executable(program)) attempt.program = program;
  }
  return attempt;
}

Attempt as_started(Attempt attempt) {
  std::error_code ignored;
  if (!std::filesystem::exists(attempt.directory / "attempt.json", ignored)) return attempt;
  try {
    return read_attempt(attempt.directory);
  } catch (const study::DirectoryError&) {
    return attempt;
  }
}

}  // namespace doetune::runner
