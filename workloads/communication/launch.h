// Starts the ranks of a workload on this machine, in the manner of mpirun.
#pragma once

#include <vector>

namespace doetune::workloads {

/// Runs this program once for each rank, with the same arguments and environment plus its rank
/// (rank.h), each on its part of the CPUs, and returns when all have succeeded. If one fails, the
/// others get a few seconds to end by themselves. They end with this process, however it ends.
/// Throws UsageError or Infeasible for ranks that ended with those codes, else std::runtime_error,
/// naming the rank.
void launch_ranks(int ranks, const std::vector<int>& cpus);

}  // namespace doetune::workloads
