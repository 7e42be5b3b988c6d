// What workloads of several ranks have in common: how they are started, measure together and
// answer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/communication/communicator.h"
#include "workloads/timing/measured.h"

namespace doetune::workloads {

/// ranks, transport, arrival_timeout, warmup, duration, values.
std::vector<Input> ranked_inputs();

/// Runs `work` in each rank: started by mpirun or srun in those processes, else in processes of its
/// own. Only rank 0 gives a result that is not silent. `gpus`: a rank has one.
Result run_ranked(const Request& request, bool gpus,
                  const std::function<Result(Communicator&)>& work);

/// One measured value: its time until the slowest rank was done, and the part in which rank 0 did
/// nothing but wait for sums.
struct Timing {
  double total_s = 0;
  double waited_s = 0;
};

using RankedMeasurement = Measured<Timing>;

/// Warms up and measures as the request asks; all ranks call `once` equally often, as rank 0
/// decides. At least one measurement, further ones only as the time limit allows. On other ranks
/// the results are empty. `name`: of total_s, for messages.
std::vector<RankedMeasurement> measure_together(Communicator& communicator, const Request& request,
                                                const std::string& name,
                                                const std::function<Timing()>& once);

using TimingRatio = Ratio<Timing>;

/// As ratio_result; the series is of total_s, under the name `series`. For rank 0.
Result ranked_result(const std::vector<RankedMeasurement>& measured,
                     const std::vector<TimingRatio>& ratios, const std::string& series, int wanted);

}  // namespace doetune::workloads
