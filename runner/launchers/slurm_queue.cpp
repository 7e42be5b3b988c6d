#include "runner/launchers/slurm_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace doetune::runner {
namespace {

constexpr std::array<std::string_view, 10> kFinalStates{
    "BOOT_FAIL", "CANCELLED",     "COMPLETED", "DEADLINE", "FAILED",
    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "REVOKED",  "TIMEOUT"};

/// From squeue(1), "JOB REASON CODES"; the last is the reason for holding a job after failed
/// launches.
constexpr std::array<std::string_view, 9> kNeverStarts{"BadConstraints",
                                                       "DependencyNeverSatisfied",
                                                       "InvalidAccount",
                                                       "InvalidQOS",
                                                       "JobHeldAdmin",
                                                       "PartitionNodeLimit",
                                                       "PartitionTimeLimit",
                                                       "JobHoldMaxRequeue",
                                                       "launch failed requeued held"};

template <std::size_t size>
bool is_in(const std::array<std::string_view, size>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// The name is the last field because it may contain anything.
std::optional<SlurmJob> parse_line(std::string_view line) {
  std::array<std::string, 4> fields;
  for (std::string& field : fields) {
    const std::size_t bar = line.find('|');
    if (bar == std::string_view::npos) return std::nullopt;
    field = line.substr(0, bar);
    line.remove_prefix(bar + 1);
  }
  if (fields[0].empty() || fields[1].empty()) return std::nullopt;
  return SlurmJob{fields[0], fields[1], fields[2], fields[3], std::string(line)};
}

AttemptEnd end_of(EndCause cause, const SlurmJob& job, const std::string& what) {
  AttemptEnd end;
  end.cause = cause;
  end.host = job.node;
  end.detail =
      fmt::format("Slurm job {}{}{}: {}", job.id, job.node.empty() ? "" : " on ", job.node, what);
  return end;
}

}  // namespace

std::optional<std::map<std::string, SlurmJob>> parse_squeue(std::string_view text) {
  std::map<std::string, SlurmJob> jobs;
  bool understood = text.find_first_not_of(" \r\n") == std::string_view::npos;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto job = parse_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!job) continue;  // the rest of a name with line breaks, which is not one of ours
    understood = true;
    SlurmJob& entry = jobs[job->name];
    const bool over = is_final(entry) || entry.state == "COMPLETING";
    if (entry.id.empty() || over) entry = std::move(*job);
  }
  return understood ? std::optional(std::move(jobs)) : std::nullopt;
}

bool is_final(const SlurmJob& job) { return is_in(kFinalStates, job.state); }

bool never_starts(const SlurmJob& job) {
  return job.state == "PENDING" && is_in(kNeverStarts, job.reason);
}

bool should_beat(const SlurmJob& job) {
  return !is_final(job) && job.state != "SUSPENDED" && job.state != "STOPPED";
}

bool is_nodes_fault(const SlurmJob& job) {
  return job.state != "CANCELLED" && job.state != "PREEMPTED" && job.state != "REVOKED";
}

AttemptEnd end_without_exit(const SlurmJob& job, bool claimed, const std::string& words) {
  const std::string said = words.empty() ? "" : ": " + words;
  if (job.state == "TIMEOUT" || job.state == "DEADLINE") {
    return end_of(EndCause::kTimeLimit, job, "stopped at the job's time limit");
  }
  if (job.state == "OUT_OF_MEMORY") {
    return end_of(EndCause::kMemory, job, "over the job's memory limit");
  }
  if (job.state == "CANCELLED") {  // also done by a controller that restarts after a crash
    return end_of(EndCause::kLost, job, "cancelled, not by doetune");
  }
  const bool ran = job.state == "COMPLETED" || job.state == "FAILED";
  if (ran && !claimed && job.reason != "JobLaunchFailure") {
    return end_of(EndCause::kNotStarted, job,
                  fmt::format("doetune-attempt did not start; it must be installed on the nodes, "
                              "and the study directory must be at the same path{}",
                              said));
  }
  return end_of(
      EndCause::kLost, job,
      fmt::format("{}{}{}", job.state,
                  job.reason.empty() || job.reason == "None" ? "" : ", " + job.reason, said));
}

SlurmQueue::SlurmQueue(ClientCommands& commands, double poll_s, Note note,
                       std::function<void()> heard)
    : poll_(commands, {"Slurm",
                       {"squeue", "-h", "-r", "-t", "all", "--me", "-o", kSqueueFormat},
                       poll_s,
                       std::move(note),
                       [this](const ClientAnswer& answer) { return read(answer); },
                       std::move(heard)}) {}

bool SlurmQueue::read(const ClientAnswer& answer) {
  auto jobs = parse_squeue(answer.output);
  if (jobs) jobs_ = std::move(*jobs);
  return jobs.has_value();
}

const SlurmJob* SlurmQueue::find(const std::string& name) const {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : &found->second;
}

}  // namespace doetune::runner
