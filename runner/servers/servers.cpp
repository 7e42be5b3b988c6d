#include "runner/servers/servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/outcome.h"
#include "runner/attempts/request.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using study::PlannedRun;
using study::RunStatus;

constexpr double kServerBeat_s = 2;  ///< heartbeats of another host that has a server

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

/// Throws RunError if a command line of the server has a factor that changes while it lives.
void check_factors(const study::Study& study, const std::vector<std::string>& arguments,
                   const char* key) {
  if (!study::has_hard_to_change(study)) return;
  const auto check = [&](const std::string& name) {
    for (const doe::Factor& factor : study.factors) {
      if (factor.name != name || factor.hard_to_change) continue;
      throw RunError(
          fmt::format("{}: '{{{}}}' changes within a whole plot, while the server is running; set "
                      "hard_to_change: true for this factor, or pass it to the command",
                      key, name),
          key);
    }
    return std::string();
  };
  for (const std::string& argument : arguments) study::fill_template(argument, check);
}

}  // namespace

void check_server(const study::StudyDirectory& directory, AttemptMaker& maker,
                  const PlannedRun& run, bool programs_here) {
  const study::ServerSettings& server = directory.study.run.server;
  check_factors(directory.study, server.set_up, "run.set_up");
  check_factors(directory.study, server.ready_command, "run.ready");
  check_factors(directory.study, {server.ready_address}, "run.ready");
  check_factors(directory.study, server.tear_down, "run.tear_down");
  maker.make_server(run, "", "", {});
  const Placeholders values = plot_placeholders(directory.study, run, std::nullopt);
  fill_arguments({server.ready_address}, "run.ready", values);
  const auto check_command = [&](const std::vector<std::string>& arguments, const char* key) {
    if (arguments.empty()) return;
    if (programs_here) {
      study_command(directory, arguments, key, values);
    } else {
      fill_arguments(arguments, key, values);
    }
  };
  check_command(server.ready_command, "run.ready");
  check_command(server.tear_down, "run.tear_down");
}

int plot_of(const PlannedRun& run) { return run.whole_plot > 0 ? run.whole_plot : -run.run; }

Servers::Servers(const study::StudyDirectory& directory, Launcher& launcher, AttemptMaker& maker)
    : directory_(directory),
      settings_(directory.study.run.server),
      launcher_(launcher),
      maker_(maker) {}

int Servers::next_number(const std::string& name) const {
  int number = 1;
  std::error_code ignored;
  while (fs::exists(directory_.path / "plots" / fmt::format("{}.{}", name, number), ignored)) {
    ++number;
  }
  return number;
}

void Servers::set_up(const PlannedRun& run, const Slot& slot) {
  const int plot = plot_of(run);
  const std::string name = plot_name(plot);
  const int number = next_number(name);
  const fs::path directory =
      fs::absolute(directory_.path / "plots" / fmt::format("{}.{}", name, number));
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw study::DirectoryError(
        fmt::format("cannot create {}: {}", directory.string(), error.message()));
  }
  const ServerOrder order = server_order(directory_, run);
  write_order(directory, order);
  Server server{
      plot, &run,
      maker_.make_server(run, fmt::format("{}.plot-{}.{}", directory_.study.name, name, number),
                         directory, slot),
      slot};
  if (launcher_.is_local()) {
    const auto is_taken = [&](int port) {
      return std::any_of(servers_.begin(), servers_.end(), [&](const auto& entry) {
        return entry.second.address && entry.second.address->port == port;
      });
    };
    server.address = {kServerHost, free_port(is_taken)};
    write_address(directory, *server.address);
    server.here.emplace(order, server.attempt, *server.address);
    server.attempt = server.here->attempt();
  } else {
    touch(directory / "wanted");
    server.there.emplace(directory, kServerBeat_s, monotonic_s());
  }
  const Attempt attempt = server.attempt;
  servers_.emplace(attempt.name, std::move(server));
  launcher_.submit(attempt);
}

const PlannedRun* Servers::find_run(int number) const {
  const auto& runs = directory_.plan.runs;
  const auto run = std::find_if(runs.begin(), runs.end(),
                                [&](const PlannedRun& other) { return other.run == number; });
  return run == runs.end() ? nullptr : &*run;
}

/// A server of an earlier doetune, from its directory.
Servers::Server Servers::left_behind(int plot, const fs::path& directory) {
  Server server{plot, nullptr, {}};
  const auto order = read_order(directory);
  if (order) server.run = find_run(order->run);
  const std::string name =
      fmt::format("{}.plot-{}", directory_.study.name, directory.filename().string());
  if (server.run != nullptr) server.attempt = maker_.make_server(*server.run, name, directory, {});
  server.attempt.name = name;
  server.attempt.directory = directory;
  server.attempt = as_started(server.attempt);
  server.address = read_address(directory);
  server.end = read_end(directory);
  if (launcher_.is_local() && server.run != nullptr && server.address) {
    try {
      server.here.emplace(*order, server.attempt, *server.address);
    } catch (const RunError&) {  // of a command that is not there any more: nothing can end it
    }
  }
  return server;
}

/// Whether the study would set up the same server today.
bool Servers::is_wanted(const Server& server) const {
  if (server.run == nullptr) return false;
  try {
    return study::read_file(server.attempt.directory / "server.json") ==
           order_text(server_order(directory_, *server.run));
  } catch (const study::DirectoryError&) {
    return false;
  }
}

void Servers::take_up(SlotPool& pool) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(directory_.path / "plots", missing)) {
    const int plot = plot_of_directory(entry.path().filename().string());
    std::error_code ignored;
    if (plot == 0 || fs::exists(entry.path() / "down", ignored)) continue;
    Server server = left_behind(plot, fs::absolute(entry.path()));
    const fs::path directory = server.attempt.directory;
    if (!server.end && !launcher_.resume(server.attempt)) server.end = AttemptEnd();
    const bool keep = !server.end && is_wanted(server) && !has(plot);
    if (keep) server.slot = pool.take_again(server.attempt.host, server.attempt.gpus);
    const bool kept = server.slot.has_value();
    server.ready = kept && server.address && read_ready(directory);
    const AttemptWatch watch(directory, kServerBeat_s, monotonic_s());
    kept ? void(server.there.emplace(watch)) : watch.ask_to_stop();
    const std::string name = server.attempt.name;
    servers_.emplace(name, std::move(server));
    if (!kept) end_server(name);
  }
}

std::optional<int> Servers::plot_of_server(const fs::path& directory) const {
  for (const auto& [name, server] : servers_) {
    if (server.attempt.directory == directory && !server.ending) return server.plot;
  }
  return std::nullopt;
}

void Servers::keep_wanted() {
  const double now_s = monotonic_s();
  if (now_s < keep_wanted_due_s_) return;
  keep_wanted_due_s_ = now_s + kWanted_s;
  for (const auto& [name, server] : servers_) {
    if (server.there) touch(server.attempt.directory / "wanted");
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
  if (server == nullptr || !server->ready || server->ending || !server->answers) {
    return std::nullopt;
  }
  Slot slot = *server->slot;
  slot.server = server->address;
  slot.server->directory = server->attempt.directory;
  return slot;
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
  return server.end && !(server.here && server.here->may_outlive(*server.end));
}

std::optional<ServerEvent> Servers::look(Server& server) {
  ServerEvent event{server.plot};
  event.directory = server.attempt.directory;
  const bool was_ready = server.ready;
  if (has_ended(server)) {
    event.type = server.ready ? ServerEvent::Type::kDied : ServerEvent::Type::kNotSetUp;
    event.set_up_s = server.here ? server.here->set_up_s() : server.end->duration_s;
    event.record = record_of(server);
    return event;
  }
  server.here ? look_here(server, event) : look_there(server, event);
  const bool news = server.ready != was_ready || event.type != ServerEvent::Type::kReady;
  return news ? std::optional(std::move(event)) : std::nullopt;
}

void Servers::look_here(Server& server, ServerEvent& event) const {
  event.set_up_s = server.here->set_up_s();
  if (server.ready) return;
  server.ready = server.here->is_ready();
  const std::string late = server.ready ? "" : server.here->overdue();
  if (late.empty()) return;
  event.type = ServerEvent::Type::kNotSetUp;
  event.record.status = RunStatus::kTimedOut;
  event.record.reason = "its server was " + late;
  event.record.start = utc_now();
}

void Servers::look_there(Server& server, ServerEvent& event) const {
  server.answers = server.there->beating(monotonic_s()) && !server.there->ended();
  if (server.ready) return;
  const auto set_up_s = read_ready(server.attempt.directory);
  server.address = read_address(server.attempt.directory);
  server.ready = set_up_s && server.address;
  event.set_up_s = set_up_s.value_or(0);
}

/// Why a server ended, as the record of a run.
study::RunRecord Servers::record_of(const Server& server) const {
  const char* when = server.ready ? "its server ended" : "its server ended before it was ready";
  const AttemptEnd& end = *server.end;
  study::RunRecord record;
  if (end.cause == EndCause::kExited && end.exit_code == 0) {
    record.status = RunStatus::kFailed;
    record.host = end.host;
    record.start = end.start;
    record.reason = fmt::format(
        "{}: exit code 0 (a program that leaves a server behind needs run.tear_down)", when);
    return record;
  }
  record = assess(directory_.study, *server.run, 0, end, read_output(server.attempt.directory));
  if (end.cause == EndCause::kTimeLimit && end.detail.starts_with("not ready")) {
    record.reason = "its server was " + end.detail;
    return record;
  }
  if (end.cause == EndCause::kTimeLimit && !end.detail.empty()) record.reason = end.detail;
  record.reason = fmt::format("{}: {}", when, record.reason);
  const bool not_its_fault = record.status == RunStatus::kCancelled ||
                             (server.ready && record.status == RunStatus::kTimedOut);
  if (not_its_fault) record.status = RunStatus::kLost;
  return record;
}

std::string Servers::tear_down(int plot) {
  for (auto& [name, server] : servers_) {
    if (server.plot == plot && !server.ending) return end_server(name);
  }
  return "";
}

std::string Servers::end_server(const std::string& name) {
  Server& server = servers_.at(name);
  server.ending = true;
  std::string problem = server.here ? server.here->tear_down() : "";
  if (!server.end) launcher_.cancel(name);
  return problem;
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
