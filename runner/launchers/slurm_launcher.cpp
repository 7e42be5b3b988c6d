#include "runner/launchers/slurm_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "runner/launchers/remote_program.h"
#include "runner/launchers/slurm_job.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr int kSubmissionsAtOnce = 4;
constexpr int kMaxFailuresOfNode = 2;
constexpr double kMaxHeartbeat_s = 10;
constexpr double kMaxSettle_s = 15;  ///< time for a network file system to show what a node wrote
constexpr double kMinLook_s = 0.1;
constexpr double kMaxLook_s = 5;
constexpr double kLookFraction = 0.05;  ///< maximum fraction of time spent checking for ends
constexpr std::size_t kMaxLogBytes = 4096;

/// How long a final state, or absence from the queue, must persist before it is believed.
double settle_s(const study::RunSettings& run) {
  return std::min(kMaxSettle_s, 3 * run.slurm.poll_s);
}

/// The last line that doetune-attempt, or the shell that starts it, left in the job's log.
std::string last_words(const std::filesystem::path& directory) {
  ClientAnswer answer;
  answer.answered = true;
  answer.errors = read_tail(directory / "log", kMaxLogBytes);
  return answer.errors.empty() ? "" : answer.words();
}

/// Whether sbatch failed before the controller could receive the job.
bool never_arrived(const ClientAnswer& answer) {
  return answer.answered && answer.errors.find("(connect failure)") != std::string::npos;
}

/// Whether the controller may have accepted the job despite the error.
bool may_have_arrived(const ClientAnswer& answer) {
  if (!answer.answered) return true;
  for (const char* words : {"timed out", "Unable to contact", "Zero Bytes", "Unexpected message",
                            "Transport endpoint", "Connection reset"}) {
    if (answer.errors.find(words) != std::string::npos) return true;
  }
  return answer.status == 0;
}

/// "12" from "12" or "12;cluster"; empty for anything else.
std::string job_id(const std::string& output) {
  const std::string id = output.substr(0, output.find_first_of(";\n"));
  const bool number = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
  return number ? id : "";
}

}  // namespace

SlurmLauncher::SlurmLauncher(LauncherRequest request)
    : request_(std::move(request)),
      queue_(commands_, request_.run.slurm.poll_s, request_.note, [this] { consider_all(); }) {}

SlurmLauncher::~SlurmLauncher() {
  const double until_s = monotonic_s() + kClusterAnswer_s;
  while (!unwanted_.empty() && commands_.running() > 0 && monotonic_s() < until_s) {
    commands_.wait(until_s, -1);
  }
}

std::vector<HostCapacity> SlurmLauncher::capacities(const study::RunSettings& run,
                                                    const SlotOptions& options) const {
  check_slurm("slurm", run, options);
  require(!run.slurm.stage,
          "run.slurm.stage needs one allocation for all runs: write run: {launcher: slurm-pilot}",
          "run.slurm.stage");
  HostCapacity capacity;
  capacity.jobs = std::min(options.jobs.value_or(run.jobs.value_or(run.slurm.max_queued)),
                           run.slurm.max_queued);
  capacity.assigns_gpus = false;
  return {capacity};
}

void SlurmLauncher::submit(const Attempt& given) {
  const std::string name = slurm_job_name(given.name, request_.directory);
  if (jobs_.count(name) > 0) return;
  Attempt attempt = given;
  attempt.heartbeat_s = std::min(kMaxHeartbeat_s, 2 * request_.run.slurm.poll_s);
  if (attempt.processes > 0) add_rank_settings(attempt, request_.run);
  Job job{attempt.name, {attempt.directory, attempt.heartbeat_s, monotonic_s()}};
  if (job.watch.claimed()) {
    events_.push_back({attempt.name, "claimed by another runner"});
    return;
  }
  try {
    write_attempt(attempt);
  } catch (const study::DirectoryError& error) {
    AttemptEnd end;
    end.cause = EndCause::kNotStarted;
    end.detail = error.what();
    events_.push_back({attempt.name, "", end});
    return;
  }
  const auto program = attempt_program(request_.run.slurm.program, "run.slurm.program");
  job.submission = sbatch_arguments(attempt, name, request_.run, program, excluded_);
  jobs_.emplace(name, std::move(job));
  to_submit_.push_back(name);
  submit_more();
}

bool SlurmLauncher::resume(const Attempt& attempt) {
  const AttemptWatch watch(attempt.directory, attempt.heartbeat_s, monotonic_s());
  if (watch.fenced()) return false;
  std::error_code ignored;
  const bool prepared = std::filesystem::exists(attempt.directory / "attempt.json", ignored);
  if (!prepared && watch.fence()) return false;  // sbatch was never called
  Job job{attempt.name, watch};
  job.submitted_s = monotonic_s();
  jobs_.emplace(slurm_job_name(attempt.name, request_.directory), std::move(job));
  queue_.ask_within(0);
  return true;
}

std::optional<std::vector<LauncherEvent>> SlurmLauncher::wait(double timeout_s, int wake) {
  const double now_s = monotonic_s();
  const bool ask = !jobs_.empty() || !unwanted_.empty();
  if (ask) queue_.ask_if_due(now_s);
  submit_more();
  double until_s = now_s + timeout_s;
  if (ask) until_s = std::min({until_s, queue_.due_s(), look_due_s_});
  commands_.wait(events_.empty() ? until_s : 0, wake);
  if (monotonic_s() >= look_due_s_) look();
  submit_more();
  if (events_.empty() && queue_.silent()) return std::nullopt;
  return std::exchange(events_, {});
}

void SlurmLauncher::cancel(const std::string& attempt) {
  const std::string name = slurm_job_name(attempt, request_.directory);
  const auto found = jobs_.find(name);
  if (found == jobs_.end() || found->second.cancelled) return;
  found->second.cancelled = true;
  if (found->second.watch.fence()) {
    AttemptEnd end;
    end.cause = EndCause::kCancelled;
    remove_from_queue(name);
    return finish(name, end, false);
  }
  // Signal doetune-attempt only: a program that receives the signal as well may end as if finished.
  commands_.start({"scancel", "--batch", "--signal=TERM", "--name=" + name}, kClusterAnswer_s,
                  [](const auto&) {});
}

void SlurmLauncher::submit_more() {
  while (!to_submit_.empty() && submitting_ < kSubmissionsAtOnce && !queue_.silent()) {
    const std::string name = to_submit_.front();
    to_submit_.pop_front();
    const auto found = jobs_.find(name);
    if (found == jobs_.end()) continue;  // cancelled in the meantime
    ++submitting_;
    commands_.start(found->second.submission, kClusterAnswer_s,
                    [this, name](const ClientAnswer& answer) { submitted(name, answer); });
  }
}

void SlurmLauncher::submitted(const std::string& name, const ClientAnswer& answer) {
  --submitting_;
  const auto found = jobs_.find(name);
  if (found == jobs_.end()) return remove_from_queue(name);  // cancelled in the meantime
  Job& job = found->second;
  if (never_arrived(answer)) {
    to_submit_.push_front(name);
    return queue_.ask_within(0);
  }
  job.submission.clear();
  job.submitted_s = monotonic_s();
  const std::string id = answer.ok() ? job_id(answer.output) : "";
  if (!id.empty()) {
    job.seen.id = id;
    try {
      study::write_file_durably(job.watch.directory() / "job", id + "\n");
    } catch (const study::DirectoryError&) {  // for users only: jobs are identified by name
    }
    return;
  }
  if (may_have_arrived(answer)) return queue_.ask_within(0);  // the queue will show its name
  if (!job.watch.fence()) return;
  AttemptEnd end;
  end.cause = EndCause::kNotStarted;
  end.detail = answer.words();
  finish(name, end, false);
}

/// Checks for `exit` files.
void SlurmLauncher::look() {
  const double began_s = monotonic_s();
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) names.push_back(name);
  for (const std::string& name : names) {
    Job& job = jobs_.at(name);
    if (!job.submitted_s || job.reported || !job.watch.ended()) continue;
    const AttemptEnd end = *read_end(job.watch.directory());
    if (!was_stopped(end)) {
      finish(name, end, true);
    } else if (job.cancelled) {
      finish(name, end_of_stopped(end, true), false);
    } else {
      job.reported = end_of_stopped(end, false);
      queue_.ask_within(0);
    }
  }
  const double ended_s = monotonic_s();
  look_due_s_ = ended_s + std::clamp((ended_s - began_s) / kLookFraction, kMinLook_s, kMaxLook_s);
}

void SlurmLauncher::consider_all() {
  look();  // an end on disk takes precedence over Slurm's answers
  std::vector<std::string> names;
  for (const auto& [name, job] : jobs_) names.push_back(name);
  for (const std::string& name : names) {
    Job& job = jobs_.at(name);
    if (!job.submitted_s || *job.submitted_s > queue_.asked_s()) continue;
    const auto end = consider(name, job);
    if (!end) continue;
    if (!job.reported) count_failure(*end, job.seen);  // a node that wrote `exit` works
    remove_from_queue(name);
    finish(name, *end, false);
  }
  clear_queue();
}

/// Cancels jobs that nobody waits for: attempts given up, and finished ones that a crashed
/// controller may have queued again.
void SlurmLauncher::clear_queue() {
  for (const auto& [name, job] : queue_.jobs()) {
    const bool again =
        job.state == "PENDING" && jobs_.count(name) == 0 && is_of_study(name, request_.directory);
    if (again) unwanted_.insert(name);
  }
  for (auto it = unwanted_.begin(); it != unwanted_.end();) {
    const SlurmJob* job = queue_.find(*it);
    const bool there = job != nullptr && !is_final(*job);
    if (there) commands_.start({"scancel", "--name=" + *it}, kClusterAnswer_s, [](const auto&) {});
    it = there ? std::next(it) : unwanted_.erase(it);
  }
}

/// The end of an attempt without an `exit` file, if it can be determined.
std::optional<AttemptEnd> SlurmLauncher::consider(const std::string& name, Job& job) {
  const bool beats = job.watch.beating(monotonic_s()) && job.watch.claimed();
  const SlurmJob* listed = queue_.find(name);
  if (listed != nullptr) job.seen = *listed;
  if (listed == nullptr) {
    job.over_since_s.reset();
    return consider_missing(job);
  }
  job.missing_since_s.reset();
  return beats && !job.reported ? std::nullopt : consider_listed(name, job);
}

std::optional<AttemptEnd> SlurmLauncher::consider_listed(const std::string& name, Job& job) {
  const bool claimed = job.watch.claimed();
  const bool over = is_final(job.seen);
  const bool silent = !over && claimed && should_beat(job.seen) && !job.reported;
  if (!claimed && never_starts(job.seen)) {
    if (!job.watch.fence()) return std::nullopt;
    AttemptEnd end;
    end.cause = EndCause::kNotStarted;
    end.detail = fmt::format("Slurm would never start job {}: {}", job.seen.id, job.seen.reason);
    return end;
  }
  if (!over && !silent && !job.reported) {
    job.over_since_s.reset();
    return std::nullopt;
  }
  if (silent && !job.over_since_s) {
    job.watch.ask_to_stop();
    remove_from_queue(name);
  }
  if (!job.over_since_s) job.over_since_s = monotonic_s();
  const bool settled = monotonic_s() - *job.over_since_s >= settle_s(request_.run);
  if (job.reported && (over || settled)) {
    const AttemptEnd end = end_without_exit(job.seen, true, "");
    return over && job.seen.state != "FAILED" && job.seen.state != "COMPLETED" ? end
                                                                               : *job.reported;
  }
  if (!settled || (!claimed && !job.watch.fence())) return std::nullopt;
  if (job.cancelled) {
    AttemptEnd end;
    end.cause = EndCause::kCancelled;
    return end;
  }
  return end_without_exit(job.seen, claimed,
                          silent ? "its heartbeat has stopped" : last_words(job.watch.directory()));
}

std::optional<AttemptEnd> SlurmLauncher::consider_missing(Job& job) {
  if (job.reported) return job.reported;
  if (!job.missing_since_s) job.missing_since_s = queue_.asked_s();
  if (queue_.asked_s() - *job.missing_since_s < 2 * request_.run.slurm.poll_s) return std::nullopt;
  const bool claimed = job.watch.claimed();
  if (claimed ? job.watch.beating(monotonic_s()) : !job.watch.fence()) return std::nullopt;
  if (claimed) job.watch.ask_to_stop();
  AttemptEnd end;
  end.cause = job.cancelled ? EndCause::kCancelled : EndCause::kLost;
  if (claimed) end.host = job.seen.node;  // otherwise Slurm forgot the job, and no node is to blame
  end.detail = fmt::format("Slurm has no record of {} any more{}",
                           job.seen.id.empty() ? "the job of this run" : "job " + job.seen.id,
                           claimed ? ", and its heartbeat has stopped" : "");
  return end;
}

/// Reports the end of an attempt. One determined by doetune is final: the attempt is fenced or its
/// heartbeat has stopped, and a late `exit` is ignored.
void SlurmLauncher::finish(const std::string& name, const AttemptEnd& end, bool exit_is_there) {
  const Job& job = jobs_.at(name);
  events_.push_back({job.attempt, "", exit_is_there ? std::nullopt : std::optional(end)});
  jobs_.erase(name);
}

void SlurmLauncher::remove_from_queue(const std::string& name) {
  unwanted_.insert(name);
  if (queue_.silent()) return;  // the next answer shows whether it is still there
  commands_.start({"scancel", "--name=" + name}, kClusterAnswer_s, [](const auto&) {});
  queue_.ask_within(0);
}

void SlurmLauncher::count_failure(const AttemptEnd& end, const SlurmJob& job) {
  if (end.cause != EndCause::kLost || end.host.empty() || !is_nodes_fault(job)) return;
  if (++failures_[end.host] != kMaxFailuresOfNode) return;
  excluded_.insert(end.host);
  if (request_.note) {
    request_.note(
        fmt::format("node {} lost {} runs and is not used any more", end.host, kMaxFailuresOfNode));
  }
}

}  // namespace doetune::runner
