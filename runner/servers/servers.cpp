#include "runner/servers/servers.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/attempts/command.h"
#include "runner/attempts/outcome.h"
#include "runner/attempts/request.h"
#include "runner/processes/bounded_file.h"
#include "runner/processes/run_error.h"
#include "runner/processes/untrusted_json.h"
#include "study/argument_template.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using study::PlannedRun;
using study::RunStatus;

constexpr double kAnswer_s = 5;    ///< for a server that is asked whether it is ready
constexpr double kCommand_s = 60;  ///< for run.ready and run.tear_down as commands
constexpr const char* kLoopback = "127.0.0.1";

std::string plot_name(int plot) {
  return plot > 0 ? fmt::format("{:04}", plot) : fmt::format("run-{:04}", -plot);
}

/// The plot of a directory such as 0003.1 or run-0007.2; 0 if it is not one of a server.
int plot_of_directory(const std::string& name) {
  const bool single = name.rfind("run-", 0) == 0;
  const std::string digits = name.substr(single ? 4 : 0, name.find('.') - (single ? 4 : 0));
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return 0;
  }
  return single ? -std::stoi(digits) : std::stoi(digits);
}

/// Whether a program ended as one does that leaves its server behind.
bool ended_well(const AttemptEnd& end) {
  return end.cause == EndCause::kExited && end.exit_code == 0;
}

}  // namespace

int plot_of(const PlannedRun& run) { return run.whole_plot > 0 ? run.whole_plot : -run.run; }

Servers::Servers(const study::StudyDirectory& directory, Launcher& launcher, AttemptMaker& maker)
    : directory_(directory),
      settings_(directory.study.run.server),
      launcher_(launcher),
      maker_(maker) {}

void Servers::check(const PlannedRun& run) {
  if (!launcher_.is_local()) {
    throw RunError(
        fmt::format("run.set_up: servers are set up on this machine alone, not by the launcher {}; "
                    "let the command start its server itself, or set run.launcher: local",
                    directory_.study.run.launcher),
        "run.set_up");
  }
  check_factors(settings_.set_up, "run.set_up");
  check_factors(settings_.ready_command, "run.ready");
  check_factors({settings_.ready_address}, "run.ready");
  check_factors(settings_.tear_down, "run.tear_down");
  maker_.make_server(run, "", "", {});
  question(run, std::nullopt);
  if (settings_.tear_down.empty()) return;
  study_command(directory_, settings_.tear_down, "run.tear_down",
                plot_placeholders(directory_.study, run, std::nullopt));
}

/// Throws RunError if a command line of the server has a factor that changes while it lives.
void Servers::check_factors(const std::vector<std::string>& arguments, const char* key) const {
  const study::Study& study = directory_.study;
  if (!study::has_hard_to_change(study)) return;
  const auto check = [&](const std::string& name) {
    for (const doe::Factor& factor : study.factors) {
      if (factor.name != name || factor.hard_to_change) continue;
      throw RunError(
          fmt::format("{}: '{{{}}}' changes within a whole plot, while the server lives; set "
                      "hard_to_change: true for this factor, or pass it to the command",
                      key, name),
          key);
    }
    return std::string();
  };
  for (const std::string& argument : arguments) study::fill_template(argument, check);
}

/// What is asked to find out whether a server is ready. Without an address it is only checked.
ReadinessProbe::Question Servers::question(const PlannedRun& run,
                                           const std::optional<ServerAddress>& address) const {
  const Placeholders values = plot_placeholders(directory_.study, run, address);
  if (!settings_.ready_command.empty()) {
    Command command = study_command(directory_, settings_.ready_command, "run.ready", values);
    command.time_limit_s = kCommand_s;
    return [command] { return failure_text(run_command(command)); };
  }
  const std::string filled = fill_arguments({settings_.ready_address}, "run.ready", values).front();
  if (!address) return {};
  const auto parsed = parse_address(filled);
  if (!parsed) {
    throw RunError(fmt::format("run.ready: '{}' is not an address with a port", filled),
                   "run.ready");
  }
  return [parsed] { return problem_of_address(*parsed, kAnswer_s); };
}

int Servers::next_number(const std::string& name) const {
  int number = 1;
  std::error_code ignored;
  while (fs::exists(directory_.path / "plots" / fmt::format("{}.{}", name, number), ignored)) {
    ++number;
  }
  return number;
}

/// A port that no program of this machine and no other server of the study uses now.
int Servers::free_port() const {
  const auto is_taken = [&](int port) {
    return std::any_of(servers_.begin(), servers_.end(),
                       [&](const auto& entry) { return entry.second.address.port == port; });
  };
  for (;;) {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (!socket || ::bind(socket.get(), generic, size) != 0 ||
        ::getsockname(socket.get(), generic, &size) != 0) {
      throw RunError(
          fmt::format("no free port for a server: {}", std::generic_category().message(errno)));
    }
    const int port = ntohs(address.sin_port);
    if (!is_taken(port)) return port;
  }
}

void Servers::set_up(const PlannedRun& run, const Slot& slot) {
  const int plot = plot_of(run);
  const std::string name = plot_name(plot);
  const int number = next_number(name);
  Slot placed = slot;
  placed.server = {kLoopback, free_port()};
  const fs::path directory =
      fs::absolute(directory_.path / "plots" / fmt::format("{}.{}", name, number));
  Attempt attempt = maker_.make_server(
      run, fmt::format("{}.plot-{}.{}", directory_.study.name, name, number), directory, placed);
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw study::DirectoryError(
        fmt::format("cannot create {}: {}", directory.string(), error.message()));
  }
  const nlohmann::ordered_json known{
      {"run", run.run}, {"host", placed.server->host}, {"port", placed.server->port}};
  study::write_file_atomically(directory / "server.json", known.dump() + "\n");
  Server server{plot, &run, attempt, placed, *placed.server, monotonic_s()};
  server.probe.emplace(question(run, placed.server));
  servers_.emplace(attempt.name, std::move(server));
  launcher_.submit(attempt);
}

/// Reads which run the server was set up for, and its address.
void Servers::recall(Server& server) const {
  const auto text = read_bounded(server.attempt.directory / "server.json", kMaxJsonBytes);
  const auto known = text ? parse_untrusted(*text) : std::nullopt;
  if (!known) return;
  try {
    const int number = known->at("run").get<int>();
    server.address = {known->at("host").get<std::string>(), known->at("port").get<int>()};
    const auto& runs = directory_.plan.runs;
    const auto run = std::find_if(runs.begin(), runs.end(),
                                  [&](const PlannedRun& other) { return other.run == number; });
    if (run != runs.end()) server.run = &*run;
  } catch (const nlohmann::json::exception&) {
    return;  // damaged: as if it had not been written
  }
}

void Servers::end_left_behind() {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(directory_.path / "plots", missing)) {
    const int plot = plot_of_directory(entry.path().filename().string());
    std::error_code ignored;
    if (plot == 0 || fs::exists(entry.path() / "down", ignored)) continue;
    Server server{plot, nullptr, {}, {}, {}, monotonic_s()};
    server.attempt.directory = fs::absolute(entry.path());
    server.attempt.name =
        fmt::format("{}.plot-{}", directory_.study.name, entry.path().filename().string());
    server.end = read_end(server.attempt.directory);
    recall(server);
    if (!server.end && !launcher_.resume(server.attempt)) server.end = AttemptEnd();
    const std::string name = server.attempt.name;
    servers_.emplace(name, std::move(server));
    tear_down(plot);
  }
}

bool Servers::setting_up() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& entry) { return !entry.second.ready && !entry.second.ending; });
}

const Servers::Server* Servers::find(int plot) const {
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const auto& entry) { return entry.second.plot == plot; });
  return found == servers_.end() ? nullptr : &found->second;
}

std::optional<Slot> Servers::slot_of(int plot) const {
  const Server* server = find(plot);
  return server != nullptr && server->ready && !server->ending ? server->slot : std::nullopt;
}

std::vector<int> Servers::plots() const {
  std::vector<int> plots;
  for (const auto& [name, server] : servers_) plots.push_back(server.plot);
  return plots;
}

bool Servers::take(const LauncherEvent& event) {
  const auto found = servers_.find(event.attempt);
  if (found == servers_.end()) return false;
  AttemptEnd lost;
  lost.detail = event.remark;
  found->second.end =
      event.end ? *event.end : read_end(found->second.attempt.directory).value_or(lost);
  return true;
}

std::vector<ServerEvent> Servers::look() {
  std::vector<ServerEvent> events;
  for (auto& [name, server] : servers_) {
    if (server.ending) continue;
    if (auto event = look(server)) events.push_back(std::move(*event));
  }
  return events;
}

/// Whether its process has ended and no server can be left.
bool Servers::has_ended(const Server& server) const {
  return server.end && !(ended_well(*server.end) && !settings_.tear_down.empty());
}

std::optional<ServerEvent> Servers::look(Server& server) {
  ServerEvent event{server.plot};
  event.set_up_s = monotonic_s() - server.began_s;
  event.directory = server.attempt.directory;
  if (has_ended(server)) {
    event.type = server.ready ? ServerEvent::Type::kDied : ServerEvent::Type::kNotSetUp;
    event.record = record_of(server);
    return event;
  }
  if (server.ready) return std::nullopt;
  if (server.probe->is_ready()) {
    server.ready = true;
    return event;
  }
  if (event.set_up_s < settings_.ready_within_s) return std::nullopt;
  event.type = ServerEvent::Type::kNotSetUp;
  event.record.status = RunStatus::kTimedOut;
  event.record.reason = fmt::format("its server was not ready within {:g} s: {}",
                                    settings_.ready_within_s, server.probe->problem());
  event.record.start = utc_now();
  return event;
}

/// Why a server ended, as the record of a run.
study::RunRecord Servers::record_of(const Server& server) const {
  const char* when = server.ready ? "its server ended" : "its server ended before it was ready";
  study::RunRecord record;
  if (ended_well(*server.end)) {
    record.status = RunStatus::kFailed;
    record.host = server.end->host;
    record.start = server.end->start;
    record.reason = fmt::format(
        "{}: exit code 0 (a program that leaves a server behind needs run.tear_down)", when);
    return record;
  }
  record =
      assess(directory_.study, *server.run, 0, *server.end, read_output(server.attempt.directory));
  record.reason = fmt::format("{}: {}", when, record.reason);
  if (record.status == RunStatus::kCancelled) record.status = RunStatus::kLost;
  return record;
}

std::string Servers::tear_down(int plot) {
  for (auto& [name, server] : servers_) {
    if (server.plot != plot || server.ending) continue;
    server.ending = true;
    std::string problem = run_tear_down(server);
    if (!server.end) launcher_.cancel(name);
    return problem;
  }
  return "";
}

std::string Servers::run_tear_down(Server& server) {
  if (settings_.tear_down.empty() || server.run == nullptr) return "";
  Command command = study_command(directory_, settings_.tear_down, "run.tear_down",
                                  plot_placeholders(directory_.study, *server.run, server.address));
  command.time_limit_s = kCommand_s;
  const std::string failure = failure_text(run_command(command));
  return failure.empty() ? "" : fmt::format("run.tear_down: {}", failure);
}

std::vector<Slot> Servers::remove_ended(const std::set<int>& busy_plots) {
  std::vector<Slot> slots;
  for (auto entry = servers_.begin(); entry != servers_.end();) {
    const Server& server = entry->second;
    if (!server.ending || !server.end || busy_plots.count(server.plot) > 0) {
      ++entry;
      continue;
    }
    std::error_code ignored;
    if (fs::exists(server.attempt.directory, ignored)) {
      study::write_file_atomically(server.attempt.directory / "down", "");
    }
    if (server.slot) slots.push_back(*server.slot);
    entry = servers_.erase(entry);
  }
  return slots;
}

}  // namespace doetune::runner
