#include "runner/telemetry/process_trees.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "runner/processes/proc_files.h"
#include "runner/processes/process_table.h"

namespace doetune::runner {
namespace {

std::optional<ProcessStat> stat_of(pid_t pid) {
  return parse_process_stat(read_proc_file(fmt::format("/proc/{}/stat", pid)));
}

}  // namespace

void ProcessTrees::add(const std::string& attempt, pid_t leader, pid_t server) {
  Tree& tree = trees_[attempt];
  tree.leader = leader;
  if (const auto stat = server == 0 ? std::nullopt : stat_of(server)) {
    tree.members[server] = stat->start_ticks;
    add_descendants(tree);
    const ProcessUse before = read(tree);
    tree.cpu_s = Growing(before.cpu_s);
    tree.major_faults = Growing(before.major_faults);
    tree.read_bytes = Growing(before.read_bytes.value_or(0));
    tree.written_bytes = Growing(before.written_bytes.value_or(0));
  }
  if (const auto stat = stat_of(leader)) tree.members[leader] = stat->start_ticks;
}

void ProcessTrees::remove(const std::string& attempt) { trees_.erase(attempt); }

void ProcessTrees::search() {
  add_left_behind();
  for (auto& [attempt, tree] : trees_) add_descendants(tree);
}

void ProcessTrees::add_descendants(Tree& tree) {
  std::vector<pid_t> to_visit;
  for (const auto& [pid, start_ticks] : tree.members) to_visit.push_back(pid);
  while (!to_visit.empty()) {
    const pid_t parent = to_visit.back();
    to_visit.pop_back();
    for (const pid_t child : children(parent)) {
      if (tree.members.count(child) > 0) continue;
      const auto stat = stat_of(child);
      if (!stat) continue;
      tree.members[child] = stat->start_ticks;
      to_visit.push_back(child);
    }
  }
}

/// Adds children of this process that belong to the group or session of an attempt.
void ProcessTrees::add_left_behind() {
  for (const pid_t orphan : children()) {
    const auto stat = stat_of(orphan);
    if (!stat) continue;
    for (auto& [attempt, tree] : trees_) {
      const bool belongs = stat->group == tree.leader || tree.members.count(stat->group) > 0 ||
                           tree.members.count(stat->session) > 0;
      if (belongs) tree.members.emplace(orphan, stat->start_ticks);
    }
  }
}

/// The current readings of the living members, added up. Forgets those that have ended.
ProcessUse ProcessTrees::read(Tree& tree) {
  ProcessUse sum;
  double read_bytes = 0;
  double written_bytes = 0;
  bool io_known = false;
  for (auto member = tree.members.begin(); member != tree.members.end();) {
    const auto [pid, start_ticks] = *member;
    const auto stat = stat_of(pid);
    if (!stat || stat->start_ticks != start_ticks) {  // ended, or its number was reused
      member = tree.members.erase(member);
      continue;
    }
    ++member;
    sum.processes += stat->state == 'Z' ? 0 : 1;
    sum.resident_bytes += stat->resident_bytes;
    sum.cpu_s += stat->cpu_s;
    sum.major_faults += stat->major_faults;
    const std::string io = read_proc_file(fmt::format("/proc/{}/io", pid));
    io_known = io_known || !io.empty();
    read_bytes += value_after(io, "read_bytes").value_or(0);
    written_bytes += value_after(io, "write_bytes").value_or(0);
  }
  if (io_known) {
    sum.read_bytes = read_bytes;
    sum.written_bytes = written_bytes;
  }
  return sum;
}

ProcessUse ProcessTrees::use(const std::string& attempt) {
  const auto found = trees_.find(attempt);
  if (found == trees_.end()) return {};
  Tree& tree = found->second;
  ProcessUse use = read(tree);
  const auto total = [](Growing& growing, double now) {
    growing.see(now);
    return growing.total();
  };
  use.cpu_s = total(tree.cpu_s, use.cpu_s);
  use.major_faults = total(tree.major_faults, use.major_faults);
  if (use.read_bytes) use.read_bytes = total(tree.read_bytes, *use.read_bytes);
  if (use.written_bytes) use.written_bytes = total(tree.written_bytes, *use.written_bytes);
  return use;
}

double ProcessTrees::proportional_bytes(const std::string& attempt) const {
  double bytes = 0;
  const auto found = trees_.find(attempt);
  if (found == trees_.end()) return bytes;
  for (const auto& [pid, start_ticks] : found->second.members) {
    const std::string maps = read_proc_file(fmt::format("/proc/{}/smaps_rollup", pid));
    bytes += 1024 * value_after(maps, "Pss").value_or(0);  // in kB
  }
  return bytes;
}

ContextSwitches ProcessTrees::context_switches(const std::string& attempt) {
  const auto found = trees_.find(attempt);
  if (found == trees_.end()) return {};
  Tree& tree = found->second;
  ContextSwitches sum;
  for (const auto& [pid, start_ticks] : tree.members) {
    const std::string threads = fmt::format("/proc/{}/task", pid);
    for (const pid_t thread : numbered_entries(threads)) {
      const std::string status = read_proc_file(fmt::format("{}/{}/status", threads, thread));
      sum.voluntary += value_after(status, "voluntary_ctxt_switches").value_or(0);
      sum.involuntary += value_after(status, "nonvoluntary_ctxt_switches").value_or(0);
    }
  }
  tree.voluntary.see(sum.voluntary);
  tree.involuntary.see(sum.involuntary);
  return {tree.voluntary.total(), tree.involuntary.total()};
}

}  // namespace doetune::runner
