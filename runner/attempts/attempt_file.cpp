#include "runner/attempts/attempt_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "runner/processes/bounded_file.h"
#include "runner/processes/untrusted_json.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFile = "attempt.json";

template <class Value>
std::optional<Value> optional_at(const nlohmann::json& object, const char* key) {
  const auto& value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional<Value>(value.get<Value>());
}

Attempt attempt_from_json(const nlohmann::json& object) {
  Attempt attempt;
  object.at("name").get_to(attempt.name);
  attempt.program = object.at("program").get<std::string>();
  object.at("arguments").get_to(attempt.arguments);
  object.at("environment").get_to(attempt.environment);
  attempt.working_directory = object.at("working_directory").get<std::string>();
  object.at("host").get_to(attempt.host);
  object.at("gpus").get_to(attempt.gpus);
  object.at("gpus_wanted").get_to(attempt.gpus_wanted);
  object.at("cpus").get_to(attempt.cpus);
  object.at("processes").get_to(attempt.processes);
  object.at("time_limit_s").get_to(attempt.time_limit_s);
  object.at("stop_grace_s").get_to(attempt.stop_grace_s);
  attempt.hang_after_s = optional_at<double>(object, "hang_after_s");
  attempt.memory_limit_bytes = optional_at<std::int64_t>(object, "memory_limit_bytes");
  object.at("telemetry_hz").get_to(attempt.telemetry_hz);
  object.at("heartbeat_s").get_to(attempt.heartbeat_s);
  return attempt;
}

}  // namespace

void write_attempt(const Attempt& attempt) {
  Json object{{"name", attempt.name}, {"program", attempt.program.string()}};
  object["arguments"] = attempt.arguments;
  object["environment"] = attempt.environment;
  object["working_directory"] = attempt.working_directory.string();
  object["host"] = attempt.host;
  object["gpus"] = attempt.gpus;
  object["gpus_wanted"] = attempt.gpus_wanted;
  object["cpus"] = attempt.cpus;
  object["processes"] = attempt.processes;
  object["time_limit_s"] = attempt.time_limit_s;
  object["stop_grace_s"] = attempt.stop_grace_s;
  object["hang_after_s"] = or_null(attempt.hang_after_s);
  object["memory_limit_bytes"] = or_null(attempt.memory_limit_bytes);
  object["telemetry_hz"] = attempt.telemetry_hz;
  object["heartbeat_s"] = attempt.heartbeat_s;
  study::write_file_durably(attempt.directory / kFile,
                            object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
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

}  // namespace doetune::runner
