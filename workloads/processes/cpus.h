// Assignment of CPUs to processes and threads, by the system's numbers.
#pragma once

#include <vector>

namespace doetune::workloads {

/// The CPUs that this process may use, restricted to `assigned` if that is not empty. Throws
/// UsageError where none is left.
std::vector<int> assigned_cpus(const std::vector<int>& assigned);

/// The CPUs of part `index` of `parts`: disjoint where there is at least one for each, else all.
std::vector<int> cpus_of(const std::vector<int>& cpus, int index, int parts);

/// Binds the calling thread to these CPUs; threads and processes that it starts inherit this.
void use_cpus(const std::vector<int>& cpus);

}  // namespace doetune::workloads
