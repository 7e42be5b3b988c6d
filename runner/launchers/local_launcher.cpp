#include "runner/launchers/local_launcher.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/host.h"
#include "base/untrusted_json.h"
#include "runner/attempts/attempt_file.h"
#include "runner/processes/process_table.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr double kUnkillableAfter_s = 10;  ///< after SIGKILL, a program is given up
constexpr double kDescendantsTimeout_s = 2;

constexpr double kClockLook_s = 1;  ///< maximum interval between checks of the clock
constexpr double kLate_s = 1;       ///< longer delays cannot be due to load
/// How long after the end of a program the scheduler's signal that caused it may arrive.
constexpr double kSignalAfterSuccess_s = 0.02;
constexpr double kSignalAfterFailure_s = 0.5;
constexpr std::size_t kMaxOwnerBytes = 1 << 16;

/// Identifies the runner of the attempt: for users, and for kill_left_behind.
std::string owner_text(ProcessMark mark) {
  const nlohmann::ordered_json owner{
      {"launcher", "local"}, {"host", node_name()},           {"pid", ::getpid()},
      {"start", utc_now()},  {"process", process_identity()}, {"mark", mark_text(mark)}};
  return owner.dump() + "\n";
}

struct Owner {
  std::string host;
  std::string process;
  ProcessMark mark;
};

/// Empty for a claim of another kind or an incomplete one.
std::optional<Owner> read_owner(const std::filesystem::path& attempt_directory) {
  const auto text = read_bounded(attempt_directory / "claim" / "owner", kMaxOwnerBytes);
  const auto object = text ? parse_untrusted(*text) : std::nullopt;
  if (!object) return std::nullopt;
  const auto text_at = [&](const char* key) {
    const auto found = object->find(key);
    return found != object->end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto mark = parse_mark(text_at("mark"));
  if (!mark) return std::nullopt;
  return Owner{text_at("host"), text_at("process"), *mark};
}

bool is_readable(int descriptor, double timeout_s) {
  pollfd event{descriptor, POLLIN, 0};
  return ::poll(&event, 1, to_milliseconds(timeout_s)) == 1;
}

/// Whether a program that has ended, but was not waited for, exited successfully.
bool ended_well(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_code == CLD_EXITED && info.si_status == 0;
}

std::string output_problem(const CappedOutput& output, const CappedOutput& errors) {
  if (!output.problem().empty()) return "stdout: " + output.problem();
  return errors.problem().empty() ? "" : "stderr: " + errors.problem();
}

/// Reads what is available in the pipe. False at its end.
bool drain_pipe(const FileDescriptor& pipe, CappedOutput& file) {
  constexpr int kMaxReads = 64;  // then the next attempt gets its turn
  std::array<char, 1 << 16> buffer;
  for (int i = 0; i < kMaxReads; ++i) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    file.write({buffer.data(), static_cast<std::size_t>(got)});
  }
  return true;
}

AttemptEnd end_of(const Attempt& attempt, EndCause cause, const std::string& start) {
  AttemptEnd end;
  end.cause = cause;
  end.host = node_name();
  end.gpu = fmt::format("{}", fmt::join(attempt.gpus, ","));
  end.cpus = cpu_list(attempt.cpus);
  end.start = start;
  return end;
}

}  // namespace

LocalLauncher::LocalLauncher(Where where)
    : where_(where), had_before_(children()), events_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!events_.is_open()) throw std::system_error(errno, std::generic_category(), "epoll");
  int subreaper = 0;
  ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  was_subreaper_ = subreaper != 0;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

LocalLauncher::~LocalLauncher() {
  for (auto& [name, running] : running_) {
    ::kill(-running.process.pid, SIGKILL);
    kill_and_wait(running.process.pid, kUnkillableAfter_s);
    kill_descendants(running);
    ::waitpid(running.process.pid, nullptr, WNOHANG);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_ ? 1 : 0);
}

/// A clock that excludes the time for which this process was stopped.
double LocalLauncher::now_s() const { return monotonic_s() - stood_still_s_; }

/// Total time of suspension of the process and the machine; only differences are meaningful.
double LocalLauncher::suspended_s() const { return stood_still_s_ + machine_suspended_s(); }

/// Adds a delay that can only be explained by suspension of this process.
void LocalLauncher::note_lateness(double seconds) {
  if (seconds > kLate_s) stood_still_s_ += seconds;
}

void LocalLauncher::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void LocalLauncher::submit(const Attempt& given) {
  Attempt attempt = given;
  if (running_.count(attempt.name) > 0) return;
  const std::string start = utc_now();
  const auto not_started = [&](const std::string& why) {
    AttemptEnd end = end_of(attempt, EndCause::kNotStarted, start);
    end.detail = why;
    report(attempt, std::move(end));
  };
  const ProcessMark mark = new_mark();
  try {
    if (!claim(attempt.directory, owner_text(mark))) {
      reported_.push_back({attempt.name, "claimed by another runner"});
      return;
    }
  } catch (const study::DirectoryError& error) {
    return not_started(error.what());
  }
  try {
    attempt = as_found_here(std::move(attempt));
  } catch (const RunError& error) {
    return not_started(error.what());
  }
  const double started_s = now_s();
  StartResult started = start_process(attempt, mark);
  if (!started.process) return not_started(started.error);
  const pid_t pid = started.process->pid;
  const auto [entry, added] = running_.emplace(
      attempt.name,
      Running{attempt, std::move(*started.process), CappedOutput(attempt.directory / "stdout"),
              CappedOutput(attempt.directory / "stderr"), mark, start, started_s,
              started_s + attempt.time_limit_s, Watchdog(attempt, pid, started_s), suspended_s()});
  entry->second.kills_before = out_of_memory_kills();
  const Process& process = entry->second.process;
  for (const FileDescriptor* source : {&process.handle, &process.output, &process.errors}) {
    watch(source->get());
  }
  record(attempt, pid);
}

void LocalLauncher::record(const Attempt& attempt, pid_t program) {
  if (attempt.telemetry_hz == 0 && !attempt.hang_after_s) return;
  if (!recorder_) recorder_.emplace(attempt.telemetry_hz);
  recorder_->add({attempt.name, program, attempt.gpus, attempt.cpus,
                  attempt.directory / "telemetry.csv", server_of(attempt)});
}

/// The program of the server beside which an attempt runs; 0 if it is not running.
pid_t LocalLauncher::server_of(const Attempt& attempt) const {
  for (const auto& [name, running] : running_) {
    if (!attempt.server.empty() && running.attempt.directory == attempt.server) {
      return running.process.pid;
    }
  }
  return 0;
}

bool LocalLauncher::resume(const Attempt& attempt) {
  kill_left_behind(attempt.directory);  // its program has died with the runner
  return false;
}

bool LocalLauncher::kill_left_behind(const std::filesystem::path& attempt_directory) {
  const auto owner = read_owner(attempt_directory);
  if (!owner || (owner->process != process_identity() && is_running(owner->process))) return false;
  // There are finitely many, but more may be started while they are being killed.
  const double deadline_s = monotonic_s() + kDescendantsTimeout_s;
  for (auto left = processes_with(owner->mark); !left.empty() && monotonic_s() < deadline_s;
       left = processes_with(owner->mark)) {
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) kill_and_wait(pid, kDescendantsTimeout_s);
  }
  return owner->host == node_name();
}

std::optional<ProcessMark> LocalLauncher::mark_of_attempt(const std::filesystem::path& directory) {
  const auto owner = read_owner(directory);
  return owner ? std::optional(owner->mark) : std::nullopt;
}

/// Sleeps until a descriptor is readable, or now_s() reaches `until_s`; returns the readable ones.
std::vector<int> LocalLauncher::sleep(double until_s, int wake) {
  std::array<epoll_event, 64> events;
  int count = 0;
  if (wake >= 0) watch(wake);
  do {
    const double left_s = std::max(0.0, until_s - now_s());
    const double planned_s = running_.empty() ? left_s : std::min(left_s, kClockLook_s);
    const double began_s = monotonic_s();
    count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()),
                         to_milliseconds(planned_s));
    note_lateness(monotonic_s() - began_s - planned_s);
  } while (count <= 0 && now_s() < until_s);
  if (wake >= 0) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, wake, nullptr);
  std::vector<int> ready;
  for (int i = 0; i < count; ++i) ready.push_back(events[static_cast<std::size_t>(i)].data.fd);
  return ready;
}

std::optional<std::vector<LauncherEvent>> LocalLauncher::wait(double timeout_s, int wake) {
  double until_s = now_s() + timeout_s;
  for (const auto& [name, running] : running_) {
    until_s = std::min({until_s, running.deadline_s, running.watchdog.due_s()});
  }
  const std::vector<int> ready = sleep(reported_.empty() ? until_s : 0, wake);
  const auto is_ready = [&](int descriptor) {
    return std::find(ready.begin(), ready.end(), descriptor) != ready.end();
  };
  // A scheduler signals this process and the program, which may then end as if finished: the caller
  // decides first whether it was stopped.
  if (wake >= 0 && is_ready(wake)) return std::exchange(reported_, {});
  std::vector<std::string> ended;
  for (auto& [name, running] : running_) {
    if (is_ready(running.process.output.get()) || is_ready(running.process.errors.get())) {
      drain(running);
      running.watchdog.saw_output(now_s());
    }
    // Read the clock before the check: this process may be suspended between the two.
    const double seen_s = now_s();
    const bool over = is_readable(running.process.handle.get(), 0);
    if (!over) enforce_limits(running, seen_s);
    if (over && !running.ended_s) running.ended_s = seen_s;
    if (over || running.stop == Stop::kGivenUp) ended.push_back(name);
  }
  if (wake >= 0 && is_signalled(ended, wake)) return std::exchange(reported_, {});
  for (const std::string& name : ended) finish(name);
  return std::exchange(reported_, {});
}

/// Whether a signal to the caller arrives right after these ends.
bool LocalLauncher::is_signalled(const std::vector<std::string>& ended, int wake) const {
  if (where_ == Where::kHere) return false;
  double pause_s = 0;
  for (const std::string& name : ended) {
    const Running& running = running_.at(name);
    if (running.stop != Stop::kNone) continue;  // stopped by this launcher
    const bool well = ended_well(running.process.pid);
    pause_s = std::max(pause_s, well ? kSignalAfterSuccess_s : kSignalAfterFailure_s);
  }
  return pause_s > 0 && is_readable(wake, pause_s);
}

void LocalLauncher::enforce_limits(Running& running, double now_s) {
  apply_watchdog(running, now_s);
  if (now_s >= running.deadline_s) stop_further(running, now_s);
}

void LocalLauncher::apply_watchdog(Running& running, double now_s) {
  const auto verdict = running.watchdog.look(
      now_s, [&] { return recorder_ ? recorder_->activity(running.attempt.name) : 0.0; });
  if (!verdict || running.stop != Stop::kNone) return;
  running.cause = verdict->cause;
  running.detail = verdict->detail;
  stop_further(running, now_s);
}

void LocalLauncher::cancel(const std::string& attempt) { stop(attempt, EndCause::kCancelled, ""); }

void LocalLauncher::stop(const std::string& attempt, EndCause cause, const std::string& detail) {
  const auto found = running_.find(attempt);
  if (found == running_.end() || found->second.stop != Stop::kNone) return;
  found->second.cause = cause;
  found->second.detail = detail;
  stop_further(found->second, now_s());
}

/// The next step of stopping: SIGTERM, after the grace period SIGKILL, then giving up.
void LocalLauncher::stop_further(Running& running, double now_s) {
  switch (running.stop) {
    case Stop::kNone:
      if (running.cause == EndCause::kExited) running.cause = EndCause::kTimeLimit;
      ::kill(-running.process.pid, SIGTERM);
      running.stop = Stop::kTerminated;
      running.deadline_s = now_s + running.attempt.stop_grace_s;
      return;
    case Stop::kTerminated:
      ::kill(-running.process.pid, SIGKILL);
      running.stop = Stop::kKilled;
      running.deadline_s = now_s + kUnkillableAfter_s;
      return;
    case Stop::kKilled:
    case Stop::kGivenUp:
      break;
  }
  running.cause = EndCause::kLost;
  running.stop = Stop::kGivenUp;
  running.deadline_s = std::numeric_limits<double>::infinity();
}

void LocalLauncher::drain(Running& running) {
  if (running.process.output.is_open() && !drain_pipe(running.process.output, running.output)) {
    running.process.output.close();
  }
  if (running.process.errors.is_open() && !drain_pipe(running.process.errors, running.errors)) {
    running.process.errors.close();
  }
}

/// Finishes an attempt whose program has ended or cannot be killed.
void LocalLauncher::finish(const std::string& name) {
  Running& running = running_.at(name);
  const double duration_s = running.ended_s.value_or(now_s()) - running.started_s;
  AttemptEnd end = end_of(running.attempt, running.cause, running.start);
  end.duration_s = duration_s;
  end.suspended_s = suspended_s() - running.suspended_before_s;
  end.detail = running.detail;

  // Kill the group first, while the number of the unreaped program still identifies it.
  ::kill(-running.process.pid, SIGKILL);
  int status = 0;
  if (::waitpid(running.process.pid, &status, WNOHANG) == running.process.pid) {
    if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  } else {
    end.detail = fmt::format("process {} does not end after SIGKILL", running.process.pid);
  }
  explain_memory(running, end);
  if (!kill_descendants(running)) end.detail = "processes that it started are still being killed";
  if (recorder_) recorder_->remove(name);
  drain(running);
  running.output.finish();
  running.errors.finish();
  end.output_problem = output_problem(running.output, running.errors);

  const Attempt attempt = std::move(running.attempt);
  running_.erase(name);
  report(attempt, std::move(end));
}

/// Detects out-of-memory kills, of the program itself or of processes without which it failed, by
/// the counter of the control group, provided that no other attempt shares it.
void LocalLauncher::explain_memory(const Running& running, AttemptEnd& end) const {
  if (end.cause != EndCause::kExited || end.exit_code == 0 || !running.kills_before) return;
  const bool killed = end.signal == SIGKILL || end.exit_code == 128 + SIGKILL;
  if (!killed && running_.size() > 1) return;
  if (out_of_memory_kills().value_or(0) <= *running.kills_before) return;
  end.cause = EndCause::kMemory;
  end.detail = "the kernel killed one of its processes because memory ran out";
}

/// Writes the end to the attempt's directory. If the program removed or obstructed the directory,
/// only this attempt fails; the other runs continue.
void LocalLauncher::report(const Attempt& attempt, AttemptEnd end) {
  LauncherEvent event{attempt.name, ""};
  if (attempt.end_in_event) {
    event.end = std::move(end);
    reported_.push_back(std::move(event));
    return;
  }
  try {
    write_end(attempt.directory, end, where_ == Where::kNode);
  } catch (const study::DirectoryError& error) {
    if (end.cause == EndCause::kExited) {
      end.cause = EndCause::kSpoiled;
      end.detail = fmt::format("its exit status could not be written: {}", error.what());
    }
    event.end = std::move(end);
  }
  reported_.push_back(std::move(event));
}

/// Kills descendants outside the attempt's group, which have become children of this process. One
/// without a mark is attributed only if there is no other attempt.
bool LocalLauncher::kill_descendants(const Running& running) {
  const double deadline_s = monotonic_s() + kDescendantsTimeout_s;
  const bool alone = running_.size() == 1;
  for (;;) {
    std::vector<pid_t> found;
    for (const pid_t pid : children()) {
      if (std::find(had_before_.begin(), had_before_.end(), pid) != had_before_.end()) continue;
      if (is_program(pid) || ::waitpid(pid, nullptr, WNOHANG) == pid) continue;
      const auto mark = mark_of(pid);
      if (mark ? *mark == running.mark : alone) found.push_back(pid);
    }
    if (found.empty()) return true;
    if (monotonic_s() > deadline_s) return false;
    for (const pid_t pid : found) {
      kill_and_wait(pid, kDescendantsTimeout_s);
      ::waitpid(pid, nullptr, WNOHANG);
    }
  }
}

bool LocalLauncher::is_program(pid_t pid) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& entry) { return entry.second.process.pid == pid; });
}

}  // namespace doetune::runner
