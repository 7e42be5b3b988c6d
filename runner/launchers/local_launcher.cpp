#include "runner/launchers/local_launcher.h"

#include <fmt/format.h>
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

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/host.h"
#include "runner/processes/process_table.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr double kUnkillableAfter_s = 10;  ///< a program that SIGKILL does not end in this time
constexpr double kDescendantsTimeout_s = 2;

/// Who runs the attempt, for people who look.
std::string owner_text() {
  const nlohmann::ordered_json owner{
      {"launcher", "local"}, {"host", node_name()}, {"pid", ::getpid()}, {"start", utc_now()}};
  return owner.dump() + "\n";
}

/// Reads what is in the pipe now. False at its end.
bool drain_pipe(const FileDescriptor& pipe, CappedOutput& file) {
  constexpr int kMaxReads = 64;  // then it is another attempt's turn
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

LocalLauncher::LocalLauncher(bool durable_ends)
    : durable_ends_(durable_ends), events_(::epoll_create1(EPOLL_CLOEXEC)) {
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

void LocalLauncher::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void LocalLauncher::submit(const Attempt& attempt) {
  if (running_.count(attempt.name) > 0) return;
  const std::string start = utc_now();
  const auto not_started = [&](const std::string& why) {
    AttemptEnd end = end_of(attempt, EndCause::kNotStarted, start);
    end.detail = why;
    report(attempt, std::move(end));
  };
  try {
    if (!claim(attempt.directory, owner_text())) {
      reported_.push_back({attempt.name, "claimed by another runner"});
      return;
    }
  } catch (const study::DirectoryError& error) {
    return not_started(error.what());
  }
  const double started_s = monotonic_s();
  StartResult started = start_process(attempt);
  if (!started.process) return not_started(started.error);
  const pid_t pid = started.process->pid;
  const auto [entry, added] = running_.emplace(
      attempt.name,
      Running{attempt, std::move(*started.process), CappedOutput(attempt.directory / "stdout"),
              CappedOutput(attempt.directory / "stderr"), start, started_s,
              started_s + attempt.time_limit_s, Watchdog(attempt, pid, started_s)});
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
  recorder_->add(
      {attempt.name, program, attempt.gpus, attempt.cpus, attempt.directory / "telemetry.csv"});
}

bool LocalLauncher::resume(const Attempt& attempt) {
  // The runner's death killed the program itself; what it started may live on, known by its
  // environment. Their number is finite but may grow while they are being killed.
  const double deadline_s = monotonic_s() + kDescendantsTimeout_s;
  for (auto left = processes_of(attempt.result()); !left.empty() && monotonic_s() < deadline_s;
       left = processes_of(attempt.result())) {
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) kill_and_wait(pid, kDescendantsTimeout_s);
  }
  return false;
}

std::optional<std::vector<LauncherEvent>> LocalLauncher::wait(double timeout_s, int wake) {
  double until_s = monotonic_s() + timeout_s;
  for (const auto& [name, running] : running_) {
    until_s = std::min({until_s, running.deadline_s, running.watchdog.due_s()});
  }
  if (!reported_.empty()) until_s = 0;

  if (wake >= 0) watch(wake);
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()),
                                 to_milliseconds(until_s - monotonic_s()));
  if (wake >= 0) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, wake, nullptr);

  const auto is_ready = [&](int descriptor) {
    return std::any_of(events.begin(), events.begin() + std::max(count, 0),
                       [&](const epoll_event& event) { return event.data.fd == descriptor; });
  };
  // A scheduler sends its signal to us and to the program, which may then end as if it were done:
  // first the caller decides whether it was stopped.
  if (wake >= 0 && is_ready(wake)) return std::exchange(reported_, {});
  std::vector<std::string> ended;
  for (auto& [name, running] : running_) {
    const auto ready = [&](const FileDescriptor& source) { return is_ready(source.get()); };
    const double now_s = monotonic_s();
    if (ready(running.process.output) || ready(running.process.errors)) {
      drain(running);
      running.watchdog.saw_output(now_s);
    }
    heed_watchdog(running, now_s);
    if (now_s >= running.deadline_s) stop_further(running, now_s);
    if (ready(running.process.handle) || running.cause == EndCause::kLost) ended.push_back(name);
  }
  for (const std::string& name : ended) finish(name);
  return std::exchange(reported_, {});
}

void LocalLauncher::heed_watchdog(Running& running, double now_s) {
  const auto verdict = running.watchdog.look(
      now_s, [&] { return recorder_ ? recorder_->activity(running.attempt.name) : 0.0; });
  if (!verdict || running.stop != Stop::kNone) return;
  running.cause = verdict->cause;
  running.detail = verdict->detail;
  stop_further(running, now_s);
}

void LocalLauncher::cancel(const std::string& attempt) {
  const auto found = running_.find(attempt);
  if (found == running_.end() || found->second.stop != Stop::kNone) return;
  found->second.cause = EndCause::kCancelled;
  stop_further(found->second, monotonic_s());
}

/// One step further: SIGTERM, after the grace SIGKILL, and for what does not die of that, nothing.
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
      break;
  }
  running.cause = EndCause::kLost;
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

/// Ends an attempt whose program has ended, or cannot be ended.
void LocalLauncher::finish(const std::string& name) {
  Running& running = running_.at(name);
  const double duration_s = monotonic_s() - running.started_s;
  AttemptEnd end = end_of(running.attempt, running.cause, running.start);
  end.duration_s = duration_s;
  end.detail = running.detail;

  // The group first, while the dead program's number still stands for it.
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

  const Attempt attempt = std::move(running.attempt);
  running_.erase(name);
  report(attempt, std::move(end));
}

/// A program that the kernel killed for want of memory, or one that failed because the kernel
/// killed what it had started: known by the count of the control group, where no other attempt
/// shares it.
void LocalLauncher::explain_memory(const Running& running, AttemptEnd& end) const {
  if (end.cause != EndCause::kExited || end.exit_code == 0 || !running.kills_before) return;
  const bool killed = end.signal == SIGKILL || end.exit_code == 128 + SIGKILL;
  if (!killed && running_.size() > 1) return;
  if (out_of_memory_kills().value_or(0) <= *running.kills_before) return;
  end.cause = EndCause::kMemory;
  end.detail = "the kernel killed one of its processes because memory ran out";
}

/// Leaves the end in the attempt's directory. A program may have removed that, or put something in
/// the way: its own failure, and no reason to give up the other runs.
void LocalLauncher::report(const Attempt& attempt, AttemptEnd end) {
  LauncherEvent event{attempt.name, ""};
  try {
    write_end(attempt.directory, end, durable_ends_);
  } catch (const study::DirectoryError& error) {
    if (end.cause == EndCause::kExited) {
      end.cause = EndCause::kSpoiled;
      end.detail = fmt::format("its exit status could not be written: {}", error.what());
    }
    event.end = std::move(end);
  }
  reported_.push_back(std::move(event));
}

/// Kills what the attempt started outside its group. Such processes became this one's children;
/// one that wiped its environment is known only when no other attempt can have started it.
bool LocalLauncher::kill_descendants(const Running& running) {
  const double deadline_s = monotonic_s() + kDescendantsTimeout_s;
  const std::string result = running.attempt.result().string();
  const bool alone = running_.size() == 1;
  for (;;) {
    std::vector<pid_t> found;
    for (const pid_t pid : children()) {
      if (is_program(pid) || ::waitpid(pid, nullptr, WNOHANG) == pid) continue;
      const auto of = result_of(pid);
      if (of ? *of == result : alone) found.push_back(pid);
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
