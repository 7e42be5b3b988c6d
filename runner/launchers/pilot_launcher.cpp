#include "runner/launchers/pilot_launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

#include "base/clock.h"
#include "runner/launchers/remote_program.h"
#include "runner/launchers/slurm_job.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr int kMaxFruitless = 3;
constexpr double kKeepAlive_s = 10;
constexpr int kIdleLooks = 24;  ///< checks by the pilot, kIdleLook_s apart, before it ends
constexpr int kIdleLook_s = 5;
constexpr int kMissedLooks = 360;  ///< of the controller, before the pilot ends
constexpr double kUsualWait_s = 5;
constexpr double kWhileQueued_s = 1;   ///< polling interval until the nodes are allocated
constexpr double kRetryStep_s = 0.25;  ///< delay before retrying a step that did not fit; doubled
constexpr double kMaxRetryStep_s = 4;
constexpr double kFull_s = 15;  ///< without a step of ours running: resources are lost
constexpr double kMinPilot_s = 3600;
constexpr int kAttemptsInPilot = 10;  ///< one after another, if the study sets no limit

/// Holds the nodes as long as what the command prints changes, or the command fails for a while.
std::string holding_script(const std::string& command) {
  return fmt::format(
      "seen=; idle=0; missed=0\n"
      "while [ $idle -lt {} ] && [ $missed -lt {} ]; do\n"
      "  if ! now=$({}); then missed=$((missed + 1))\n"
      "  elif [ \"$now\" = \"$seen\" ]; then missed=0; idle=$((idle + 1))\n"
      "  else missed=0; idle=0; seen=$now; fi\n"
      "  sleep {}\n"
      "done\n",
      kIdleLooks, kMissedLooks, command, kIdleLook_s);
}

/// The modification time of the file, whatever the clocks say, also if it is missing.
std::string holding_script_of(const std::filesystem::path& alive) {
  return holding_script(
      fmt::format("stat -c %y {} 2>/dev/null || :", study::shell_quoted(alive.string())));
}

/// The comment of the job, unless the controller is silent, for nodes that do not see the file.
constexpr const char* kComment = "squeue --noheader --jobs=$SLURM_JOB_ID --format=%k 2>/dev/null";

/// Keeps the ranks of a step on its node. Otherwise Open MPI's mpirun would ask Slurm for a step on
/// all nodes of the allocation, and srun for processors that this step holds, and both would wait
/// forever.
void add_step_settings(Attempt& attempt) {
  attempt.environment.try_emplace("OMPI_MCA_plm", "^slurm");
  attempt.environment.try_emplace("OMPI_MCA_ras", "^slurm");
  attempt.environment.try_emplace("SLURM_OVERLAP", "1");
}

/// Whether srun says that a step does not fit now: nodes, ports or a switch are busy, or the prolog
/// still runs. Lines of slurmstepd are about a step that had begun.
bool is_refusal(const std::string& errors) {
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("srun: ")) continue;
    if (line.find("busy") != line.npos || line.find("rolog") != line.npos) return true;
  }
  return false;
}

}  // namespace

PilotLauncher::PilotLauncher(LauncherRequest request)
    : ClientLauncher(std::move(request)),
      alive_(request_.directory / "pilot.alive"),
      name_(slurm_job_name(request_.study + ".pilot", request_.directory)),
      queue_(commands_, request_.run.slurm.poll_s, request_.note, [this] { heard(); }) {
  if (request_.run.slurm.stage) stage_.emplace(*request_.run.slurm.stage, request_.directory);
}

PilotLauncher::~PilotLauncher() {
  std::error_code ignored;
  std::filesystem::remove(alive_, ignored);
  std::filesystem::remove(archive(), ignored);
  if (pilot_ == Pilot::kUnknown || pilot_ == Pilot::kNone) return;
  bool done = false;
  commands_.start({"scancel", "--name=" + name_}, kClusterAnswer_s,
                  [&](const ClientAnswer&) { done = true; });
  while (!done) commands_.wait(monotonic_s() + kClusterAnswer_s, -1);
}

std::vector<HostCapacity> PilotLauncher::capacities(const study::RunSettings& run,
                                                    const SlotOptions& options) const {
  check_slurm("slurm-pilot", run, options);
  if (stage_) Stage::refuse_servers(run);
  const auto sets_nodes = [](const std::string& option) {
    return option.starts_with("-N") || option.starts_with("--nodes");
  };
  require(
      !stage_ || std::ranges::none_of(run.slurm.options, sets_nodes),
      "with a stage, the number of nodes to copy its files to is run.slurm.nodes, not an option",
      "run.slurm.options");
  HostCapacity capacity;
  capacity.jobs = options.jobs.value_or(run.jobs.value_or(run.slurm.nodes));
  capacity.assigns_gpus = false;
  return {capacity};
}

std::vector<std::string> PilotLauncher::sbatch() const {
  const study::RunSettings& run = request_.run;
  const study::SlurmSettings& slurm = run.slurm;
  const double attempt_s = run.timeout_s + run.stop_grace_s + kSlurmMargin_s;
  const double limit_s =
      slurm.time_limit_s.value_or(std::max({kMinPilot_s, kAttemptsInPilot * attempt_s, limit_s_}));
  const int jobs_on_node = (jobs_ + slurm.nodes - 1) / slurm.nodes;
  const int cpus = run.cpus_per_run.value_or(1) * ranks_;
  std::vector<std::string> arguments = sbatch_head(
      name_, run, limit_s, fmt::format("--ntasks-per-node={}", jobs_on_node), gpus_ * jobs_on_node);
  arguments.push_back(fmt::format("--cpus-per-task={}", cpus));
  if (run.memory_limit_bytes) {
    const double mebibytes = static_cast<double>(*run.memory_limit_bytes) / (1 << 20);
    arguments.push_back(fmt::format("--mem-per-cpu={:.0f}M", std::ceil(mebibytes / cpus)));
  }
  arguments.insert(arguments.end(), slurm.options.begin(), slurm.options.end());
  const std::string script = stage_ ? holding_script(kComment) : holding_script_of(alive_);
  arguments.insert(arguments.end(), {"--wrap", script});
  return arguments;
}

std::vector<std::string> PilotLauncher::client(const Attempt& attempt) const {
  const study::RunSettings& run = request_.run;
  const int cpus = run.cpus_per_run.value_or(1) * std::max(attempt.processes, 1);
  std::vector<std::string> arguments{"srun",
                                     "--jobid=" + id_,
                                     "--exact",
                                     "--nodes=1",
                                     "--ntasks=1",
                                     "--mpi=none",
                                     "--immediate",
                                     "--chdir=/",
                                     "--job-name=" + attempt.name,
                                     fmt::format("--cpus-per-task={}", cpus)};
  if (attempt.gpus_wanted > 0) {
    arguments.push_back(fmt::format("--gres=gpu:{}", attempt.gpus_wanted));
  } else if (run.slurm.gres.empty()) {
    arguments.push_back("--gres=none");
  }
  arguments.push_back(attempt_program(run.slurm.program, "run.slurm.program").string());
  if (!stage_) {
    arguments.push_back(attempt.directory.string());
    return arguments;
  }
  const std::vector<std::string> staged = stage_->arguments(attempt);
  arguments.insert(arguments.end(), staged.begin(), staged.end());
  return arguments;
}

/// In a stage, what the attempt leaves is what its step prints. srun ends a step when it is
/// terminated, and leaves it alone when it is killed.
std::optional<int> PilotLauncher::start_client(const Attempt& attempt) {
  if (!stage_) return ClientLauncher::start_client(attempt);
  const auto answered = [this, attempt](ClientAnswer answer) {
    Stage::store(answer, attempt);
    client_ended(attempt.name, answer);
  };
  return commands_.start(client(attempt), std::numeric_limits<double>::infinity(), answered,
                         SIGTERM);
}

std::filesystem::path PilotLauncher::archive() const { return request_.directory / "stage.tar"; }

/// Whether the nodes of this allocation have the files of the stage; if not, they are copied.
bool PilotLauncher::has_files() {
  if (!stage_ || stage_->files().empty() || has_files_ == id_) return true;
  if (copying_) return false;
  copying_ = true;
  const std::string id = id_;
  std::vector<std::string> pack{"tar", "--create", "--file=" + archive().string(),
                                "--directory=" + files_from_.string(), "--"};
  pack.insert(pack.end(), stage_->files().begin(), stage_->files().end());
  const auto packed = [this, id](const ClientAnswer& answer) {
    if (answer.ok()) {
      const auto ended = [this, id](const ClientAnswer& end) { copied(id, end); };
      copy_ = commands_.start(copy(id), Stage::kCopy_s, ended, SIGTERM);
    } else {
      copying_ = false;
      give_up_copying(answer);
    }
  };
  commands_.start(pack, Stage::kCopy_s, packed);
  return false;
}

/// srun passes the archive to a process on each node. In its path, %% is a percent sign.
std::vector<std::string> PilotLauncher::copy(const std::string& id) const {
  const int nodes = request_.run.slurm.nodes;
  std::string input;
  for (const char c : archive().string()) input += c == '%' ? "%%" : std::string(1, c);
  return {"srun",
          "--jobid=" + id,
          "--overlap",
          fmt::format("--nodes={}", nodes),
          fmt::format("--ntasks={}", nodes),
          "--ntasks-per-node=1",
          "--mpi=none",
          "--gres=none",
          "--chdir=/",
          "--job-name=stage",
          "--input=" + input,
          "tar",
          "--extract",
          "--overwrite",
          "--one-top-level=" + stage_->files_folder()};
}

/// srun also fails when its allocation ends, of which Slurm is asked first.
void PilotLauncher::copied(const std::string& id, const ClientAnswer& answer) {
  copying_ = false;
  copy_.reset();
  if (id == id_ && answer.ok()) {
    failed_copies_ = 0;
    has_files_ = id;
    if (request_.note) {
      request_.note(fmt::format("copied {} to {} of the nodes", fmt::join(stage_->files(), ", "),
                                stage_->files_folder()));
    }
  } else if (id == id_ && pilot_ == Pilot::kRunning) {
    if (++failed_copies_ >= kMaxFruitless) return give_up_copying(answer);
    confirm_pilot();
  }
  begin_waiting();
}

void PilotLauncher::give_up_copying(const ClientAnswer& answer) {
  give_up(fmt::format("the files of run.slurm.stage could not be copied to the nodes: {}",
                      answer.first_words()));
}

/// Until Slurm confirms that the allocation exists, nothing is started in it.
void PilotLauncher::confirm_pilot() {
  if (pilot_ != Pilot::kRunning) return;
  pilot_ = Pilot::kQueued;
  submitted_s_ = monotonic_s();
  queue_.ask_within(0);
}

AttemptEnd PilotLauncher::not_begun(const Attempt&, const ClientAnswer& answer) {
  AttemptEnd end;
  end.detail = fmt::format("srun in Slurm job {}: {}", id_, answer.words());
  confirm_pilot();
  return end;
}

/// A step is refused if the previous one has not quite ended. srun itself would wait for the
/// controller, and retry only after SlurmctldTimeout, a minute or more. It would wait forever for
/// lost resources: a step whose srun was killed before it started anything keeps its processors
/// until the allocation ends.
bool PilotLauncher::take_back(const Attempt& attempt, const ClientAnswer& answer, bool stopped) {
  const bool refused = is_refusal(answer.errors);
  // In a stage nobody can say whether a stopped step had begun.
  if (!refused && (!stopped || stage_)) return false;
  waiting_.push_back(attempt);  // another one may need less, and fit
  if (refused && pilot_ == Pilot::kRunning) note_refusal();
  return true;
}

void PilotLauncher::note_refusal() {
  const double now_s = monotonic_s();
  if (retry_step_s_ == 0) {
    retry_step_s_ = kRetryStep_s;
    retry_s_ = now_s + kRetryStep_s;
  }
  const bool others = stage_ ? any_client() : any_begun();
  if (!full_since_s_ || others) full_since_s_ = now_s;
  if (now_s >= *full_since_s_ + kFull_s) leave_full_pilot();
}

/// Called if a step has begun or ended, or for new nodes: all waiting steps are started again.
void PilotLauncher::found_resources() {
  retried_.clear();
  if (retry_step_s_ == 0) return;
  retry_step_s_ = 0;
  retry_s_ = std::min(retry_s_, monotonic_s() + kRetryStep_s);
}

/// Cancels an allocation that has no resources for a single step although none of ours is running.
void PilotLauncher::leave_full_pilot() {
  commands_.start({"scancel", id_}, kClusterAnswer_s, [](const auto&) {});
  left_id_ = id_;
  pilot_ended("it had no resources for a step, though no run was in progress");
}

void PilotLauncher::submit(const Attempt& given) {
  files_from_ = given.working_directory;
  Attempt attempt = stage_ ? stage_->there(given) : given;
  if (attempt.processes > 0) add_step_settings(attempt);
  if (!prepare(attempt)) return;
  gpus_ = std::max(gpus_, attempt.gpus_wanted);
  ranks_ = std::max(ranks_, attempt.processes);
  limit_s_ = std::max(limit_s_, attempt.time_limit_s + attempt.stop_grace_s + kSlurmMargin_s);
  waiting_.push_back(std::move(attempt));
  jobs_ = std::max(jobs_, static_cast<int>(waiting_.size()));
  begin_waiting();
}

/// Begins all of them; after a refusal, one at a time with growing delays until one has begun.
void PilotLauncher::begin_waiting() {
  // A step in a stage does not show that it has begun: one that was refused would have ended.
  const bool lives = stage_ && monotonic_s() >= retry_s_ && has_client(retried_);
  if (lives || has_begun(retried_)) found_resources();
  while (pilot_ == Pilot::kRunning && !waiting_.empty() && has_files() &&
         monotonic_s() >= retry_s_) {
    begin(waiting_.front());
    if (retry_step_s_ > 0) {
      retried_ = waiting_.front().name;
      retry_step_s_ = std::min(2 * retry_step_s_, kMaxRetryStep_s);
      retry_s_ = monotonic_s() + retry_step_s_;
    }
    waiting_.pop_front();
  }
}

std::optional<std::vector<LauncherEvent>> PilotLauncher::wait(double timeout_s, int wake) {
  const double now_s = monotonic_s();
  keep_alive(now_s);
  if (!waiting_.empty() && pilot_ == Pilot::kNone) ask_for_nodes();
  queue_.ask_if_due(now_s);
  begin_waiting();
  double until_s = std::min({now_s + timeout_s, queue_.due_s(), now_s + kKeepAlive_s});
  if (pilot_ == Pilot::kRunning && !waiting_.empty()) until_s = std::min(until_s, retry_s_);
  return ClientLauncher::wait(std::max(0.0, until_s - now_s), wake);
}

void PilotLauncher::cancel(const std::string& attempt) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Attempt& entry) { return entry.name == attempt; });
  if (found == waiting_.end()) return ClientLauncher::cancel(attempt);
  waiting_.erase(found);
  AttemptEnd cancelled;
  cancelled.cause = EndCause::kCancelled;
  end(attempt, cancelled);
}

/// Signals to the pilot that this doetune is alive.
void PilotLauncher::keep_alive(double now_s) {
  if (now_s < kept_alive_s_ + kKeepAlive_s) return;
  kept_alive_s_ = now_s;
  study::write_file_atomically(alive_, fmt::format("{}\n", utc_now()));
  if (!stage_ || id_.empty()) return;
  const auto answered = [this](const ClientAnswer& answer) {
    if (answer.ok() || comment_refused_ || !request_.note) return;
    comment_refused_ = true;
    request_.note(fmt::format(
        "the comment of Slurm job {} cannot be changed ({}); without that it ends in two minutes",
        id_, answer.words()));
  };
  commands_.start({"scontrol", "update", "JobId=" + id_, "Comment=" + utc_now()}, kClusterAnswer_s,
                  answered);
}

void PilotLauncher::ask_for_nodes() {
  if (queue_.silent()) return;
  pilot_ = Pilot::kSubmitting;
  commands_.start(sbatch(), kClusterAnswer_s,
                  [this](const ClientAnswer& answer) { submitted(answer); });
}

void PilotLauncher::submitted(const ClientAnswer& answer) {
  submitted_s_ = monotonic_s();
  missing_ = 0;
  pilot_ = Pilot::kQueued;
  queue_.ask_within(0);
  if (answer.answered && answer.status != 0 &&
      answer.errors.find("Unable to contact") == std::string::npos) {
    pilot_ = Pilot::kNone;
    give_up(answer.words());
  }
}

/// Handles an answer of Slurm about its jobs.
void PilotLauncher::heard() {
  const SlurmJob* job = queue_.find(name_);
  const bool there = job != nullptr && !is_final(*job) && job->state != "COMPLETING";
  if (pilot_ == Pilot::kSubmitting || queue_.asked_s() < submitted_s_) return;
  if (there && job->id == left_id_) return;  // until it has ended
  if (!there) {
    if (pilot_ == Pilot::kUnknown) {
      pilot_ = Pilot::kNone;
    } else if (pilot_ != Pilot::kNone && (job != nullptr || ++missing_ > 1)) {
      pilot_ended(job != nullptr ? job->state + ", " + job->reason : "it is not in the queue");
    }
    return;
  }
  missing_ = 0;
  id_ = job->id;
  pilot_ = job->state == "RUNNING" ? Pilot::kRunning : Pilot::kQueued;
  if (never_starts(*job)) {
    commands_.start({"scancel", "--name=" + name_}, kClusterAnswer_s, [](const auto&) {});
    pilot_ = Pilot::kNone;
    return give_up(fmt::format("Slurm would never start job {}: {}", job->id, job->reason));
  }
  if (pilot_ == Pilot::kQueued) {
    queue_.ask_within(kWhileQueued_s);
    report_why_it_waits(*job);
  }
  begin_waiting();
}

/// Reports each reason once, after the few seconds that are usual for Slurm.
void PilotLauncher::report_why_it_waits(const SlurmJob& job) {
  if (monotonic_s() < submitted_s_ + kUsualWait_s || job.reason == reported_reason_) return;
  reported_reason_ = job.reason;
  if (!request_.note) return;
  request_.note(fmt::format("Slurm job {} for the nodes is pending: {}", job.id, job.reason));
}

void PilotLauncher::pilot_ended(const std::string& why) {
  pilot_ = Pilot::kNone;
  full_since_s_.reset();
  found_resources();
  stop_clients();  // an srun may wait forever for a step in it
  if (copy_) commands_.stop(*copy_);
  if (++fruitless_ >= kMaxFruitless) {
    give_up(fmt::format("{} consecutive allocations ended before any run finished; the last: {}",
                        kMaxFruitless, why));
  } else if (request_.note) {
    request_.note(fmt::format("Slurm job {} with the nodes has ended ({})", id_, why));
  }
}

/// Ends the waiting attempts if no nodes can be allocated.
void PilotLauncher::give_up(const std::string& why) {
  for (const Attempt& attempt : std::exchange(waiting_, {})) {
    AttemptEnd not_started;
    not_started.cause = EndCause::kNotStarted;
    not_started.detail = why;
    end(attempt.name, not_started);
  }
}

}  // namespace doetune::runner
