#include "workloads/communication/launch.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/communication/group.h"
#include "workloads/processes/child_process.h"
#include "workloads/processes/cpus.h"

namespace doetune::workloads {
namespace {

constexpr auto kGrace = std::chrono::seconds(2);  // for the others, once one has failed

std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

std::vector<ChildProcess> start_ranks(int ranks, const std::vector<int>& cpus) {
  const FileDescriptor listener = listen_at({"127.0.0.1", 0});
  const std::string rendezvous = to_text(local_address(listener.get()));
  const int threads = std::max(1, static_cast<int>(cpus.size()) / ranks);
  std::vector<ChildProcess> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    ChildStart start{own_arguments(),
                     {{"DOETUNE_RANK", std::to_string(rank)},
                      {"DOETUNE_RANKS", std::to_string(ranks)},
                      {"DOETUNE_LOCAL_RANK", std::to_string(rank)},
                      {"DOETUNE_RENDEZVOUS", rendezvous}},
                     {},
                     cpus_of(cpus, rank, ranks),
                     threads};
    if (rank == 0) {
      start.files = {listener.get()};
      start.environment.emplace_back("DOETUNE_LISTENER", std::to_string(listener.get()));
    }
    processes.emplace_back(start);
  }
  return processes;
}

/// Waits until all have ended, or for kGrace after one has failed. Returns the failed ranks in the
/// order in which they ended.
std::vector<int> wait_for(std::vector<ChildProcess>& processes) {
  std::vector<int> running(processes.size());
  std::iota(running.begin(), running.end(), 0);
  std::vector<int> failed;
  Clock::time_point deadline = Clock::time_point::max();
  while (!running.empty() && Clock::now() <= deadline) {
    const auto ended = std::erase_if(running, [&](int rank) {
      if (!processes[rank].ended()) return false;
      if (processes[rank].failed()) failed.push_back(rank);
      return true;
    });
    if (!failed.empty()) deadline = std::min(deadline, Clock::now() + kGrace);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return failed;
}

}  // namespace

void launch_ranks(int ranks, const std::vector<int>& cpus) {
  std::vector<ChildProcess> processes = start_ranks(ranks, cpus);
  const std::vector<int> failed = wait_for(processes);
  if (failed.empty()) return;
  // A rank killed by a signal is the cause; ranks that lost it end with an exit code.
  const auto by_signal = [&](int rank) { return processes[rank].ended_by_signal(); };
  const auto found = std::ranges::find_if(failed, by_signal);
  const int cause = found == failed.end() ? failed.front() : *found;
  processes[cause].report(rank_name(cause, ranks), "fewer ranks or smaller batches take less");
}

}  // namespace doetune::workloads
