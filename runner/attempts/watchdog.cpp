#include "runner/attempts/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <vector>

#include "runner/processes/proc_files.h"

namespace doetune::runner {
namespace {

constexpr double kMinPause_s = 0.5;
constexpr double kForever_s = std::numeric_limits<double>::infinity();

std::string gibibytes(double bytes) { return fmt::format("{:.3g} GiB", bytes / (1 << 30)); }

/// Files that may count out-of-memory kills, the most specific first: this process' control group,
/// version 2 or 1, then the machine.
std::vector<std::filesystem::path> counters() {
  std::vector<std::filesystem::path> files;
  const std::string groups = read_proc_file("/proc/self/cgroup");
  for (std::size_t begin = 0; begin < groups.size();) {
    const std::size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string line = groups.substr(begin, end - begin);  // hierarchy:controllers:path
    begin = end + 1;
    const std::size_t path_at = line.find(':', line.find(':') + 1);
    if (path_at == std::string::npos) continue;
    const std::string path = line.substr(path_at + 1);
    if (line.starts_with("0::")) files.push_back("/sys/fs/cgroup" + path + "/memory.events");
    if (line.find(":memory:") != std::string::npos) {
      files.push_back("/sys/fs/cgroup/memory" + path + "/memory.oom_control");
    }
  }
  files.emplace_back("/sys/fs/cgroup/memory.events");  // inside a container, its own
  files.emplace_back("/sys/fs/cgroup/memory/memory.oom_control");
  files.emplace_back("/proc/vmstat");
  return files;
}

/// The number after "oom_kill " at the beginning of a line.
std::optional<long> kills_in(const std::string& text) {
  constexpr std::string_view kName = "oom_kill ";
  for (std::size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + 1)) {
    if (at == 0 || text[at - 1] == '\n')
      return std::strtol(text.c_str() + at + kName.size(), nullptr, 10);
  }
  return std::nullopt;
}

}  // namespace

Watchdog::Watchdog(const Attempt& attempt, pid_t program, double now_s)
    : attempt_(attempt.name),
      hang_after_s_(attempt.hang_after_s),
      memory_limit_bytes_(attempt.memory_limit_bytes),
      pause_s_(kForever_s),
      quiet_since_s_(now_s) {
  if (memory_limit_bytes_) pause_s_ = kMinPause_s;
  if (hang_after_s_) pause_s_ = std::min(pause_s_, std::max(*hang_after_s_ / 10, 0.01));
  due_s_ = now_s + pause_s_;
  if (memory_limit_bytes_) trees_.add(attempt_, program);
}

void Watchdog::saw_output(double now_s) {
  quiet_since_s_ = now_s;
  activity_s_.reset();
}

std::optional<Watchdog::Verdict> Watchdog::look(double now_s,
                                                const std::function<double()>& activity) {
  if (now_s < due_s_) return std::nullopt;
  due_s_ = now_s + pause_s_;
  if (auto verdict = look_for_memory()) return verdict;
  return hang_after_s_ ? look_for_hang(now_s, activity()) : std::nullopt;
}

std::optional<Watchdog::Verdict> Watchdog::look_for_hang(double now_s, double activity_s) {
  if (!activity_s_) {
    activity_s_ = activity_s;
    return std::nullopt;
  }
  const double quiet_s = now_s - quiet_since_s_;
  if (activity_s - *activity_s_ > kIdleFraction * std::max(quiet_s, *hang_after_s_ / 10)) {
    quiet_since_s_ = now_s;
    activity_s_ = activity_s;
    return std::nullopt;
  }
  if (quiet_s < *hang_after_s_) return std::nullopt;
  return Verdict{
      EndCause::kHung,
      fmt::format("no output for {:.3g} s, and no activity on processors or GPUs", quiet_s)};
}

std::optional<Watchdog::Verdict> Watchdog::look_for_memory() {
  if (!memory_limit_bytes_) return std::nullopt;
  trees_.search();
  const auto limit = static_cast<double>(*memory_limit_bytes_);
  if (trees_.use(attempt_).resident_bytes <= limit) return std::nullopt;
  const double used = trees_.proportional_bytes(attempt_);
  if (used <= limit) return std::nullopt;
  return Verdict{EndCause::kMemory, fmt::format("its processes use {}, more than the limit of {}",
                                                gibibytes(used), gibibytes(limit))};
}

std::optional<long> out_of_memory_kills() {
  for (const std::filesystem::path& file : counters()) {
    if (const auto kills = kills_in(read_proc_file(file))) return kills;
  }
  return std::nullopt;
}

}  // namespace doetune::runner
