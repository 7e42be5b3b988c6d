#include "runner/telemetry/process_trees.h"

#include <fmt/format.h>

#include "runner/proc_files.h"

namespace doetune::runner {

void ProcessTrees::add(const std::string& attempt, pid_t leader) {
  trees_[attempt].leader = leader;
  owners_[leader] = attempt;
  trees_[attempt].members.push_back(leader);
}

void ProcessTrees::remove(const std::string& attempt) {
  trees_.erase(attempt);
  std::erase_if(owners_, [&](const auto& owner) { return owner.second == attempt; });
}

void ProcessTrees::search() {
  const std::vector<pid_t> pids = numbered_entries("/proc");
  std::unordered_map<pid_t, std::string> known;
  std::unordered_map<pid_t, ProcessStat> fresh;
  for (const pid_t pid : pids) {
    if (const auto owner = owners_.find(pid); owner != owners_.end()) {
      known.insert(std::move(*owner));
    } else if (const auto stat =
                   parse_process_stat(read_proc_file(fmt::format("/proc/{}/stat", pid)))) {
      fresh.emplace(pid, *stat);
    }
  }
  const auto owner_of = [&](pid_t pid) -> std::string {
    const auto found = known.find(pid);
    return found == known.end() ? kNone : found->second;
  };
  // A parent may be new as well, and listed later: until no more are found.
  for (bool found = true; found && !fresh.empty();) {
    found = false;
    for (auto process = fresh.begin(); process != fresh.end();) {
      std::string owner = owner_of(process->second.parent);
      if (owner == kNone) owner = owner_of(process->second.group);
      if (owner == kNone) owner = owner_of(process->second.session);
      if (owner == kNone) {
        ++process;
        continue;
      }
      found = true;
      known.emplace(process->first, owner);
      process = fresh.erase(process);
    }
  }
  for (const auto& [pid, stat] : fresh) known.emplace(pid, kNone);
  owners_ = std::move(known);
  for (auto& [attempt, tree] : trees_) tree.members.clear();
  for (const auto& [pid, owner] : owners_) {
    if (owner != kNone) trees_[owner].members.push_back(pid);
  }
}

ProcessUse ProcessTrees::use(const std::string& attempt) {
  ProcessUse use;
  const auto found = trees_.find(attempt);
  if (found == trees_.end()) return use;
  Tree& tree = found->second;
  ProcessStat sum;
  double read_bytes = 0;
  double written_bytes = 0;
  bool io_known = false;
  for (const pid_t pid : tree.members) {
    const auto stat = parse_process_stat(read_proc_file(fmt::format("/proc/{}/stat", pid)));
    if (!stat) continue;
    use.processes += stat->state == 'Z' ? 0 : 1;
    use.resident_bytes += stat->resident_bytes;
    sum.cpu_s += stat->cpu_s;
    sum.major_faults += stat->major_faults;
    const std::string io = read_proc_file(fmt::format("/proc/{}/io", pid));
    io_known = io_known || !io.empty();
    read_bytes += value_after(io, "read_bytes").value_or(0);
    written_bytes += value_after(io, "write_bytes").value_or(0);
  }
  tree.cpu_s.see(sum.cpu_s);
  tree.major_faults.see(sum.major_faults);
  use.cpu_s = tree.cpu_s.total();
  use.major_faults = tree.major_faults.total();
  if (!io_known) return use;
  tree.read_bytes.see(read_bytes);
  tree.written_bytes.see(written_bytes);
  use.read_bytes = tree.read_bytes.total();
  use.written_bytes = tree.written_bytes.total();
  return use;
}

double ProcessTrees::proportional_bytes(const std::string& attempt) const {
  double bytes = 0;
  const auto found = trees_.find(attempt);
  if (found == trees_.end()) return bytes;
  for (const pid_t pid : found->second.members) {
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
  for (const pid_t pid : tree.members) {
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
