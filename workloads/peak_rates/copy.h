// The workload `copy`: arrays copied, scaled and added over and over. What a device's memory, and
// the way to it, move at best.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& copy_workload();

}  // namespace doetune::workloads
