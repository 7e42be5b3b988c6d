// Starts the ranks of a workload on this machine, by mpirun.
#pragma once

#include <vector>

namespace doetune::workloads {

/// Runs this program once for each rank, with the same arguments and environment, and returns when
/// all have succeeded. If one fails, mpirun ends the others. They end with this process, however it
/// ends. Throws Infeasible where MPI is missing; UsageError or Infeasible for a rank that ended
/// with those codes, which has printed why; else std::runtime_error.
void launch_ranks(int ranks, const std::vector<int>& cpus);

/// In such a rank, before it starts threads: takes its part of the CPUs, and ends with mpirun. A
/// process by itself takes all of them; ranks that others started keep those they were given.
void settle(const std::vector<int>& cpus);

}  // namespace doetune::workloads
