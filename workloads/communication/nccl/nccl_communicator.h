// Communication between GPUs by NCCL, one process per GPU.
#pragma once

#include <chrono>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// `processes` connects the ranks so far. The rank's GPU is that of its local rank. Values to sum
/// may be in host memory, and then pass through pinned buffers, or in GPU memory, where they are
/// summed in place; the work that writes them must have completed. Throws NoDevice where the rank
/// has no GPU of its own, since NCCL refuses two ranks on one, and std::runtime_error where NCCL
/// has not connected the ranks, all of which are there, within `patience`. While it waits for other
/// ranks for longer than a few milliseconds it leaves the CPU to others.
std::unique_ptr<Communicator> make_nccl_communicator(
    Communicator& processes, std::chrono::duration<double> patience = std::chrono::minutes(2));

}  // namespace doetune::workloads
