#include "workloads/communication/mpi/mpi_library.h"

#include "workloads/optional_library.h"

namespace doetune::workloads {

std::unique_ptr<Communicator> mpi_communicator(Group& group) {
  using Entry = Communicator* (*)(Group & group);
  static const auto entry = reinterpret_cast<Entry>(
      open_library({"libdoetune_mpi.so", "doetune_mpi_communicator", "transport mpi", "doetune-mpi",
                    "MPI: apt install libopenmpi-dev openmpi-bin"}));
  return std::unique_ptr<Communicator>(entry(group));
}

}  // namespace doetune::workloads
