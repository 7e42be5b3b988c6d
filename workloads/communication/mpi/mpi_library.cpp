#include "workloads/communication/mpi/mpi_library.h"

#include "workloads/optional_library.h"

namespace doetune::workloads {
namespace {

using MpiEntry = Communicator* (*)(int ranks);

MpiEntry mpi_entry() {
  static const auto found = reinterpret_cast<MpiEntry>(
      open_library({"libdoetune_mpi.so", "doetune_mpi_communicator", "transport mpi", "doetune-mpi",
                    "MPI: apt install libopenmpi-dev openmpi-bin"}));
  return found;
}

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(int ranks) {
  return std::unique_ptr<Communicator>(mpi_entry()(ranks));
}

void require_mpi() { mpi_entry(); }

}  // namespace doetune::workloads
