// The workload `gemm`: one matrix product, over and over. What a device computes at best.
#pragma once

#include "workloads/networks/roofline.h"
#include "workloads/peak_rates/operation.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// Seconds at the peak_rates: the larger of operations over their rate and bytes over theirs.
double roofline_seconds(const Gemm& gemm, const PeakRates& peak_rates);

const Workload& gemm_workload();

}  // namespace doetune::workloads
