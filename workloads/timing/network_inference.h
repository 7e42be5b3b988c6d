// The workload `network-inference`: one network, one batch after another, without video and without
// executors. What an engine makes of the device.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// A batch is timed from its numbers in the engine's input buffer on the host to its results in the
/// output buffer there; the next one begins when it is done.
const Workload& network_inference();

}  // namespace doetune::workloads
