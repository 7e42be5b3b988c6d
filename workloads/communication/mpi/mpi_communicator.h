// Sums and messages over MPI: Message Passing Interface Standard 3.1, chapters 3 and 5.
#pragma once

#include <memory>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// The processes that mpirun or srun started, connected by MPI. One for each process: MPI begins
/// with it and ends with it.
///
/// A sum is an MPI_Iallreduce. A thread lets MPI go on with it while the caller computes. Who waits
/// naps between looks, so that ranks that share processors leave them to each other. Throws
/// Infeasible, with what to do, where MPI connects other than `ranks` processes or has different
/// versions in them, and std::runtime_error with MPI's words.
std::unique_ptr<Communicator> make_mpi_communicator(int ranks);

}  // namespace doetune::workloads
