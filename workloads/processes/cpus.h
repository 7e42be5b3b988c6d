// CPUs that processes and threads may use, by the system's numbers.
#pragma once

#include <vector>

namespace doetune::workloads {

/// Those that this process may use, or of `assigned` those that it may. Throws UsageError where
/// none is left.
std::vector<int> assigned_cpus(const std::vector<int>& assigned);

/// The CPUs of part `index` of `parts`: its own where there is at least one for each, else all.
std::vector<int> cpus_of(const std::vector<int>& cpus, int index, int parts);

/// Binds the calling thread to these; threads and processes that it starts inherit them.
void use_cpus(const std::vector<int>& cpus);

}  // namespace doetune::workloads
