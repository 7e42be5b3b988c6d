#include "workloads/communication/nccl/nccl_library.h"

#include "workloads/cuda/optional_library.h"
#include "workloads/engines/engine.h"

namespace doetune::workloads {
namespace {

using Entry = Communicator* (*)(Group& group);

Entry entry() {
  static const auto found =
      reinterpret_cast<Entry>(open_library({"libdoetune_nccl.so", "doetune_nccl_communicator",
                                            "transport nccl", "the CUDA toolkit or NCCL was"}));
  return found;
}

}  // namespace

bool has_nccl() try { return entry() != nullptr; } catch (const NoDevice&) {
  return false;
}

std::unique_ptr<Communicator> nccl_communicator(Group& group) {
  return std::unique_ptr<Communicator>(entry()(group));
}

}  // namespace doetune::workloads
