// The machine, shared out among the runs at once.
#pragma once

#include <string>
#include <vector>

#include "runner/request.h"

namespace doetune::runner {

/// The processors this process may use.
std::vector<int> usable_cpus();

/// One slot for each of the jobs. GPUs are dealt out in order, `gpus_per_run` to each, processors
/// in equal contiguous parts; where there are fewer processors than jobs, all jobs share all of
/// them. Throws RunError where `gpus` are not enough; none given means 0, 1, ...
std::vector<Slot> share_out(int jobs, int gpus_per_run, std::vector<std::string> gpus,
                            const std::vector<int>& cpus);

}  // namespace doetune::runner
