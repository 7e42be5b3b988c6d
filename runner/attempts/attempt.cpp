#include "runner/attempts/attempt.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bounded_file.h"
#include "base/file_descriptor.h"
#include "base/host.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxExitBytes = 1 << 16;

constexpr std::array<std::pair<EndCause, std::string_view>, 8> kCauses{{
    {EndCause::kExited, "exited"},
    {EndCause::kTimeLimit, "time_limit"},
    {EndCause::kHung, "hung"},
    {EndCause::kMemory, "memory"},
    {EndCause::kCancelled, "cancelled"},
    {EndCause::kNotStarted, "not_started"},
    {EndCause::kLost, "lost"},
    {EndCause::kSpoiled, "spoiled"},
}};

std::string_view cause_name(EndCause cause) {
  return std::find_if(kCauses.begin(), kCauses.end(),
                      [&](const auto& entry) { return entry.first == cause; })
      ->second;
}

/// Throws Json::exception if the object does not describe an end.
AttemptEnd end_from_json(const Json& object) {
  AttemptEnd end;
  const auto& name = object.at("cause").get_ref<const std::string&>();
  const auto cause = std::find_if(kCauses.begin(), kCauses.end(),
                                  [&](const auto& entry) { return entry.second == name; });
  if (cause == kCauses.end()) throw Json::other_error::create(501, "unknown cause", &object);
  end.cause = cause->first;
  if (!object.at("exit_code").is_null()) end.exit_code = object.at("exit_code").get<int>();
  if (!object.at("signal").is_null()) end.signal = object.at("signal").get<int>();
  end.detail = object.at("detail").get<std::string>();
  end.host = object.at("host").get<std::string>();
  end.gpu = object.at("gpu").get<std::string>();
  end.cpus = object.value("cpus", "");
  end.start = object.at("start").get<std::string>();
  end.duration_s = object.at("duration_s").get<double>();
  end.suspended_s = object.value("suspended_s", 0.0);
  end.output_problem = object.value("output_problem", "");
  return end;
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool claim(const std::filesystem::path& attempt_directory, const std::string& owner) {
  const auto made = attempt_directory / "claim";
  std::error_code error;
  if (!std::filesystem::create_directory(made, error)) {
    if (!error) return false;
    throw study::DirectoryError(
        fmt::format("cannot create {}: {}", made.string(), error.message()));
  }
  study::write_file_atomically(made / "owner", owner);
  return true;
}

void write_end(const std::filesystem::path& attempt_directory, const AttemptEnd& end,
               bool durable) {
  Json object{{"cause", cause_name(end.cause)}};
  object["exit_code"] = end.exit_code ? Json(*end.exit_code) : Json();
  object["signal"] = end.signal ? Json(*end.signal) : Json();
  object["detail"] = end.detail;
  object["host"] = end.host;
  object["gpu"] = end.gpu;
  object["cpus"] = end.cpus;
  object["start"] = end.start;
  object["duration_s"] = end.duration_s;
  object["suspended_s"] = end.suspended_s;
  object["output_problem"] = end.output_problem;
  const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const auto file = attempt_directory / "exit";
  durable ? study::write_file_durably(file, text) : study::write_file_atomically(file, text);
}

std::optional<AttemptEnd> read_end(const std::filesystem::path& attempt_directory) {
  const auto text = read_bounded(attempt_directory / "exit", kMaxExitBytes);
  if (!text) return std::nullopt;
  try {
    return end_from_json(Json::parse(*text));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void touch(const std::filesystem::path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (opened.is_open()) ::futimens(opened.get(), nullptr);
}

std::map<int, std::vector<int>> attempt_directories(const std::filesystem::path& runs) {
  std::map<int, std::vector<int>> attempts;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(runs, missing)) {
    const std::string name = entry.path().filename().string();
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) continue;
    const auto run = whole_number(std::string_view(name).substr(0, dot));
    const auto attempt = whole_number(std::string_view(name).substr(dot + 1));
    if (run && attempt) attempts[*run].push_back(*attempt);
  }
  return attempts;
}

std::string node_name() {
  for (const char* variable : {"SLURMD_NODENAME", kNodeVariable}) {
    const char* node = std::getenv(variable);
    if (node != nullptr && *node != '\0') return node;
  }
  return host_name();
}

}  // namespace doetune::runner
