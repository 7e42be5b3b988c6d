// The entry point of libdoetune_nccl.so.
#include "workloads/communication/nccl/nccl_communicator.h"

extern "C" doetune::workloads::Communicator* doetune_nccl_communicator(
    doetune::workloads::Communicator& processes) {
  return doetune::workloads::make_nccl_communicator(processes).release();
}
