// The entry point of libdoetune_mpi.so.
#include "workloads/communication/mpi/mpi_communicator.h"

extern "C" doetune::workloads::Communicator* doetune_mpi_communicator(int ranks) {
  return doetune::workloads::make_mpi_communicator(ranks).release();
}
