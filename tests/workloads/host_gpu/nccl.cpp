// NCCL with a single rank, whose sums are its own values.
#include <nccl.h>

#include <atomic>
#include <cstring>

#include "host_gpu.h"
#include "machine.h"

struct ncclComm {};

namespace doetune::host_gpu {
namespace {
std::atomic<bool> ready{true};
}  // namespace

void set_nccl_ready(bool is_ready) { ready = is_ready; }

}  // namespace doetune::host_gpu

using namespace doetune::host_gpu;

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 7, sizeof *id);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int, ncclUniqueId, int, ncclConfig_t*) {
  *made = new ncclComm;
  return ncclInProgress;
}
ncclResult_t ncclCommSplit(ncclComm_t, int, int, ncclComm_t* made, ncclConfig_t*) {
  *made = new ncclComm;
  return ncclInProgress;
}
ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclInProgress; }
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* state) {
  *state = ready ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "an error of the host GPU"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t, cudaStream_t stream) {
  const std::size_t bytes = count * (type == ncclFloat32 ? 4 : 2);
  submit(stream, [=] { std::memmove(to, from, bytes); });
  return ncclSuccess;
}
ncclResult_t ncclSend(const void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
ncclResult_t ncclRecv(void*, std::size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclInvalidUsage;
}
