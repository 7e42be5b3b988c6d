// NCCL, in a shared library that is opened on demand (optional_library.h).
#pragma once

#include <memory>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// Whether this build includes it and it can be loaded here.
bool has_nccl();

/// As make_nccl_communicator; throws NoDevice, with the reason, where NCCL is missing.
std::unique_ptr<Communicator> nccl_communicator(Communicator& processes);

}  // namespace doetune::workloads
