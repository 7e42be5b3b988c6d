// MPI, in a shared library that is opened on demand (optional_library.h).
#pragma once

#include <memory>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// As make_mpi_communicator; throws Infeasible, with what to install, where MPI is missing.
std::unique_ptr<Communicator> mpi_communicator(int ranks);

/// Throws what mpi_communicator would throw where MPI is missing.
void require_mpi();

}  // namespace doetune::workloads
