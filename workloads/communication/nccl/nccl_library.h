// NCCL, in a library of its own that is opened where it is asked for (cuda/optional_library.h).
#pragma once

#include <memory>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// Whether this build has it and it can be loaded here.
bool has_nccl();

/// As make_nccl_communicator; throws NoDevice, which says why, where there is no NCCL.
std::unique_ptr<Communicator> nccl_communicator(Group& group);

}  // namespace doetune::workloads
