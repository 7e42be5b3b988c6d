// The workload `input-pipeline`: reader threads make batches from coded pictures and feed a
// training step. What holds the step up, and by how much?
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& input_pipeline();

}  // namespace doetune::workloads
