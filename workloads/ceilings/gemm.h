// The workload `gemm`: one matrix product, over and over. What a device computes at best.
#pragma once

#include "workloads/ceilings/operation.h"
#include "workloads/networks/roofline.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// Seconds at the ceilings: the larger of operations over their rate and bytes over theirs.
double roofline_seconds(const Gemm& gemm, const Ceilings& ceilings);

const Workload& gemm_workload();

}  // namespace doetune::workloads
