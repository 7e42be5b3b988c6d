// The workload `all-reduce`: how fast the ranks form the sum of their values.
//
// Of a message of S bytes that is summed over n ranks in the time t, nccl-tests calls S / t the
// algorithm bandwidth, and S / t x 2 (n - 1) / n, which does not depend on n where every link is
// busy all the time, the bus bandwidth (nccl-tests, doc/PERFORMANCE.md).
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& all_reduce();

}  // namespace doetune::workloads
