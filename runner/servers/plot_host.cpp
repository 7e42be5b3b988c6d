#include "runner/servers/plot_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/standard_streams.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/placement.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;

constexpr double kHostLook_s =
    0.05;  ///< between looks for the next run, and at what is being ended
constexpr double kHostBeat_s = 1;

AttemptEnd not_started(const std::string& why) {
  AttemptEnd end;
  end.cause = EndCause::kNotStarted;
  end.host = node_name();
  end.start = utc_now();
  end.detail = why;
  return end;
}

/// Executes run.tear_down of a server whose doetune-attempt was killed, at most once.
void tear_down_left_behind(const fs::path& directory) {
  const auto order = read_order(directory);
  const auto address = read_address(directory);
  std::error_code ignored;
  if (!order || order->settings.tear_down.empty() || !address ||
      !fs::create_directory(directory / "torn_down", ignored)) {
    return;
  }
  std::string problem;
  try {
    problem = LocalServer(*order, read_attempt(directory), *address).tear_down();
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  if (!problem.empty()) print_message("doetune-attempt: {}: {}\n", directory.string(), problem);
}

/// Ends what a doetune-attempt that was killed left running on this host.
void end_left_behind(const fs::path& plots) {
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(plots, missing)) {
    if (read_end(entry.path())) continue;
    if (LocalLauncher::kill_left_behind(entry.path())) tear_down_left_behind(entry.path());
  }
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

}  // namespace

PlotHost::PlotHost(const Attempt& server, const ServerOrder& order, std::function<bool()> signalled,
                   int wake)
    : attempt_(server),
      order_(order),
      signalled_(std::move(signalled)),
      wake_(wake),
      launcher_(LocalLauncher::Where::kNode),
      wanted_seen_s_(monotonic_s()) {
  attempt_.end_in_event = true;  // its end is written when the runs have ended, too
}

void PlotHost::run() {
  if (!start()) return;
  while (!is_over()) {
    look();
    beat();
    const auto events = launcher_.wait(pause_s(), wake_);
    for (const LauncherEvent& event : events.value_or(std::vector<LauncherEvent>())) handle(event);
  }
  write_end(attempt_.directory, end(), true);
}

/// False if another process has the server, or it cannot be started here; its directory then says
/// so.
bool PlotHost::start() {
  end_left_behind(attempt_.directory.parent_path());
  try {
    const ServerAddress address{kServerHost, free_port([](int) { return false; })};
    server_.emplace(order_, attempt_, address);
    launcher_.submit(server_->attempt());
    const auto events = launcher_.wait(0, -1);
    for (const LauncherEvent& event : events.value_or(std::vector<LauncherEvent>())) handle(event);
    if (owned_elsewhere_) return false;
    write_address(attempt_.directory, address);
    return true;
  } catch (const RunError& error) {
    if (!claim(attempt_.directory, "{}\n")) return false;
    write_end(attempt_.directory, not_started(error.what()), true);
    return false;
  }
}

void PlotHost::look() {
  look_at_requests();
  if (!stopped_) look_at_server();
  if (stopped_) {
    stop_further();
  } else if (ready_ && runs_.empty()) {
    start_runs();
  }
}

void PlotHost::look_at_requests() {
  const bool signalled = signalled_();
  if (is_there(attempt_.directory / "cancel")) {
    stop(EndCause::kCancelled, "");
  } else if (signalled) {
    stop(EndCause::kLost, fmt::format("stopped by a signal on {}, not by doetune", node_name()));
  } else if (!is_wanted()) {
    stop(EndCause::kLost,
         fmt::format("doetune has shown no sign of life for {:g} s", order_.unwanted_s));
  }
  for (const auto& [name, attempt] : runs_) {
    if (is_there(attempt.directory / "cancel")) launcher_.cancel(name);
  }
}

/// Whether doetune has touched `wanted` lately. The clocks of two hosts are not compared.
bool PlotHost::is_wanted() {
  std::error_code missing;
  const auto touched = fs::last_write_time(attempt_.directory / "wanted", missing);
  if (!missing && touched != wanted_) {
    wanted_ = touched;
    wanted_seen_s_ = monotonic_s();
  }
  return monotonic_s() - wanted_seen_s_ < order_.unwanted_s;
}

void PlotHost::look_at_server() {
  if (program_end_ && !server_->may_outlive(*program_end_)) {
    return stop(program_end_->cause, ready_ ? "its server ended" : "");
  }
  if (ready_) return;
  if (server_->is_ready()) {
    ready_ = true;
    write_ready(attempt_.directory, server_->set_up_s());
  } else if (const std::string late = server_->overdue(); !late.empty()) {
    stop(EndCause::kTimeLimit, late);
  }
}

void PlotHost::start_runs() {
  for (const std::string& name : placed_runs(attempt_.directory)) {
    if (!runs_.empty()) return;
    if (taken_.insert(name).second) start_run(name);
  }
}

/// The server is STUDY/plots/0003.1, the run STUDY/runs/0007.1.
void PlotHost::start_run(const std::string& name) {
  const fs::path directory = attempt_.directory.parent_path().parent_path() / "runs" / name;
  try {
    Attempt run = read_attempt(directory);
    if (run.gpus.empty()) run.gpus = attempt_.gpus;
    run.environment.insert(attempt_.environment.begin(), attempt_.environment.end());
    runs_.emplace(run.name, run);
    launcher_.submit(run);
  } catch (const study::DirectoryError& error) {
    print_message("doetune-attempt: {}\n", error.what());
    if (claim(directory, "{}\n")) write_end(directory, not_started(error.what()), true);
  }
}

void PlotHost::stop(EndCause cause, const std::string& detail) {
  if (stopped_) return;
  stopped_ = cause;
  detail_ = detail;
  for (const auto& [name, run] : runs_) {
    launcher_.stop(name, EndCause::kLost, detail.empty() ? "its server was ended" : detail);
  }
}

/// The next step of ending the server: the end of its runs, run.tear_down, a signal.
void PlotHost::stop_further() {
  if (!runs_.empty()) return;
  if (!torn_down_ && !tear_down_.valid()) {
    tear_down_ = std::async(std::launch::async, [this] { return server_->tear_down(); });
  }
  if (tear_down_.valid() && tear_down_.wait_for(std::chrono::duration<double>(kHostLook_s)) ==
                                std::future_status::ready) {
    torn_down_ = true;
    if (const std::string problem = tear_down_.get(); !problem.empty()) {
      print_message("doetune-attempt: {}\n", problem);
    }
  }
  if (torn_down_ && !program_end_) launcher_.stop(attempt_.name, *stopped_, detail_);
}

void PlotHost::handle(const LauncherEvent& event) {
  if (event.attempt != attempt_.name) {
    runs_.erase(event.attempt);
    return;
  }
  program_end_ = event.end;
  owned_elsewhere_ = !event.end;
}

void PlotHost::beat() {
  const double now_s = monotonic_s();
  if (now_s < beat_due_s_) return;
  beat_due_s_ = now_s + std::min(kHostBeat_s, attempt_.heartbeat_s);
  touch(attempt_.directory / "alive");
  for (const auto& [name, run] : runs_) touch(run.directory / "alive");
}

bool PlotHost::is_over() const {
  return stopped_ && runs_.empty() && torn_down_ && program_end_.has_value();
}

double PlotHost::pause_s() const {
  return runs_.empty() || stopped_ ? kHostLook_s : std::min(kHostBeat_s, attempt_.heartbeat_s);
}

/// How the server ended: by itself, or why it was ended.
AttemptEnd PlotHost::end() const {
  AttemptEnd end = *program_end_;
  if (server_->may_outlive(end) && *stopped_ != end.cause) {
    end.cause = *stopped_;
    end.detail = detail_;
    end.exit_code.reset();
  }
  return end;
}

}  // namespace doetune::runner
