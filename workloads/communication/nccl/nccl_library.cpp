#include "workloads/communication/nccl/nccl_library.h"

#include "workloads/engines/engine.h"
#include "workloads/optional_library.h"

namespace doetune::workloads {
namespace {

using Entry = Communicator* (*)(Communicator& processes);

Entry entry() {
  static const auto found = reinterpret_cast<Entry>(
      open_library({"libdoetune_nccl.so", "doetune_nccl_communicator", "transport nccl",
                    "doetune-cuda", "the CUDA toolkit and NCCL"}));
  return found;
}

}  // namespace

bool has_nccl() try { return entry() != nullptr; } catch (const NoDevice&) {
  return false;
}

std::unique_ptr<Communicator> nccl_communicator(Communicator& processes) {
  return std::unique_ptr<Communicator>(entry()(processes));
}

}  // namespace doetune::workloads
