// Sums between GPUs by NCCL, one process a GPU.
#pragma once

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// The rank's GPU is the one of its local rank. Values to sum may lie in the host's memory, from
/// where they go through pinned buffers, or in the GPU's, where they are summed in place; what
/// writes them must be done. Throws NoDevice where the rank has no GPU of its own, for NCCL refuses
/// two ranks on one.
std::unique_ptr<Communicator> make_nccl_communicator(Group& group);

}  // namespace doetune::workloads
