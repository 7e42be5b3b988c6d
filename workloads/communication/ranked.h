// What the workloads with several ranks have in common: launch, joint measurement, results.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/communication/communicator.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// ranks, transport, warmup, duration, values.
std::vector<Input> ranked_inputs();

/// Runs `work` in each rank: in the processes that mpirun or srun started, else in processes of its
/// own. Only rank 0's result is not silent. `gpus`: each rank uses a GPU.
Result run_ranked(const Request& request, bool gpus,
                  const std::function<Result(Communicator&)>& work);

/// One measured value: the time until the slowest rank was done, and the part of it that rank 0
/// spent waiting for sums.
struct Timing {
  double total_s = 0;
  double waited_s = 0;
};

using RankedMeasurement = Measured<Timing>;

/// Warms up and measures as the request asks. All ranks call `once` equally often, as rank 0
/// decides. At least one measurement, further ones as the time limit allows. On other ranks the
/// results are empty. `name`: of total_s, for messages.
std::vector<RankedMeasurement> measure_together(Communicator& communicator, const Request& request,
                                                const std::string& name,
                                                const std::function<Timing()>& once);

using TimingRatio = Ratio<Timing>;

/// As ratio_result, with the series of total_s under the name `series`. On rank 0.
Result ranked_result(const std::vector<RankedMeasurement>& measured,
                     const std::vector<TimingRatio>& ratios, const std::string& series, int wanted);

}  // namespace doetune::workloads
