// Starts the ranks of a workload on this machine, as mpirun does.
#pragma once

#include <vector>

namespace doetune::workloads {

/// Runs this program once more for each rank, with the same arguments and environment and with its
/// rank (rank.h), each on its part of the CPUs, and returns when all have ended well. If one
/// fails, the others get a few seconds to end by themselves. They end with this process, however it
/// ends. Throws UsageError and Infeasible for ranks that ended with those codes, and
/// std::runtime_error, naming the rank, otherwise.
void launch_ranks(int ranks, const std::vector<int>& cpus);

}  // namespace doetune::workloads
