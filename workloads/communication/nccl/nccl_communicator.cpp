#include "workloads/communication/nccl/nccl_communicator.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <cstring>
#include <deque>
#include <thread>

#include "workloads/communication/nccl/conversion.h"

namespace doetune::workloads {
namespace {

constexpr int kLooksBetweenChecks = 1000;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const std::string why = fmt::format("{}: {}", what, cudaGetErrorString(error));
  if (error == cudaErrorMemoryAllocation) throw Infeasible(why);
  throw std::runtime_error(why);
}

enum class Side { gpu, pinned };

/// Memory of the GPU, or of the host where the GPU reads and writes it by itself.
template <Side side>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release(); }

  /// At least so many bytes; what was there before is lost.
  void* reserve(std::size_t bytes) {
    if (bytes <= bytes_) return data_;
    release();
    check(side == Side::gpu ? cudaMalloc(&data_, bytes) : cudaMallocHost(&data_, bytes),
          "memory for sums");
    bytes_ = bytes;
    return data_;
  }

 private:
  void release() {
    if (data_ != nullptr) side == Side::gpu ? cudaFree(data_) : cudaFreeHost(data_);
    data_ = nullptr;
    bytes_ = 0;
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What one sum under way needs.
struct Lane {
  Buffer<Side::pinned> staged;
  Buffer<Side::gpu> floats;
  Buffer<Side::gpu> halves;
  cudaEvent_t done = nullptr;
  std::span<float> host = {};  // where the sum goes, if that is on the host

  Lane() { check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming), "an event"); }
  ~Lane() { cudaEventDestroy(done); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
};

bool on_gpu(const void* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

class Nccl final : public Communicator {
 public:
  explicit Nccl(Group& group) : Communicator(group) {
    take_gpu();
    const ncclUniqueId id = shared_id();
    group.watch();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    settle(ncclCommInitRankConfig(&comm_, size(), id, rank(), &config));
  }

  ~Nccl() override {
    if (comm_ != nullptr) ncclCommAbort(comm_);  // also ends sums that a dead rank left behind
    cudaStreamSynchronize(stream_);
    lanes_.clear();
    free_.clear();
    cudaStreamDestroy(stream_);
  }

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    auto lane = take_lane();
    const std::size_t bytes = values.size_bytes();
    float* data = values.data();
    lane->host = {};
    if (!values.empty() && !on_gpu(data)) {
      lane->host = values;
      std::memcpy(lane->staged.reserve(bytes), data, bytes);
      data = static_cast<float*>(lane->floats.reserve(bytes));
      check(cudaMemcpyAsync(data, lane->staged.reserve(bytes), bytes, cudaMemcpyHostToDevice,
                            stream_),
            "values to the GPU");
    }
    reduce(*lane, {data, values.size()}, type, weight);
    if (!lane->host.empty())
      check(cudaMemcpyAsync(lane->staged.reserve(bytes), data, bytes, cudaMemcpyDeviceToHost,
                            stream_),
            "sums from the GPU");
    check(cudaEventRecord(lane->done, stream_), "an event");
    lanes_.push_back(std::move(lane));
    return ++started_;
  }

  void wait(Ticket ticket) override {
    for (; done_ < ticket && !lanes_.empty(); ++done_) {
      Lane& lane = *lanes_.front();
      wait_for(lane);
      if (!lane.host.empty())
        std::memcpy(lane.host.data(), lane.staged.reserve(0), lane.host.size_bytes());
      free_.push_back(std::move(lanes_.front()));
      lanes_.pop_front();
    }
  }

  Values allocate(std::size_t count) override {
    const auto buffer = std::make_shared<Buffer<Side::gpu>>();
    auto* data = static_cast<float*>(buffer->reserve(count * sizeof(float)));
    check(cudaMemset(data, 0, count * sizeof(float)), "values on the GPU");
    check(cudaDeviceSynchronize(), "values on the GPU");
    return {{data, count}, buffer};
  }

  std::string_view name() const override { return "nccl"; }

 private:
  void take_gpu() const {
    int gpus = 0;
    const cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess || local_rank() >= gpus)
      throw Infeasible(fmt::format("{} has no GPU of its own, which transport nccl needs: {}",
                                   rank_name(rank(), size()),
                                   error == cudaSuccess ? fmt::format("this machine gives {}", gpus)
                                                        : cudaGetErrorString(error)));
    check(cudaSetDevice(local_rank()), "the GPU of the rank");
  }

  ncclUniqueId shared_id() const {
    ncclUniqueId id{};
    std::string text;
    if (rank() == 0) {
      if (ncclGetUniqueId(&id) != ncclSuccess)
        throw std::runtime_error(fmt::format("NCCL: {}", ncclGetLastError(nullptr)));
      for (const char byte : id.internal)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    const std::string given = group_.gather(text).front();
    if (given.size() != 2 * sizeof id.internal) throw std::runtime_error("rank 0 has no NCCL");
    for (std::size_t i = 0; i < sizeof id.internal; ++i)
      id.internal[i] = static_cast<char>(std::stoi(given.substr(2 * i, 2), nullptr, 16));
    return id;
  }

  /// Waits for a call that does not block; notices a rank that has ended meanwhile.
  void settle(ncclResult_t result) {
    while (result == ncclInProgress) {
      group_.check();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (ncclCommGetAsyncError(comm_, &result) != ncclSuccess) break;
    }
    if (result != ncclSuccess) report(result);
  }

  [[noreturn]] void report(ncclResult_t result) const {
    if (result == ncclRemoteError || result == ncclSystemError)
      group_.report_closed((rank() + 1) % size());
    throw std::runtime_error(
        fmt::format("NCCL: {}: {}", ncclGetErrorString(result), ncclGetLastError(comm_)));
  }

  std::unique_ptr<Lane> take_lane() {
    if (free_.empty()) return std::make_unique<Lane>();
    auto lane = std::move(free_.front());  // the longest free: buckets find their sizes again
    free_.pop_front();
    return lane;
  }

  void reduce(Lane& lane, std::span<float> values, CommunicationType type, float weight) {
    const std::size_t count = values.size();
    if (type == CommunicationType::fp32) {
      if (weight != 1) nccl::scale(values.data(), count, weight, stream_);
      settle(
          ncclAllReduce(values.data(), values.data(), count, ncclFloat32, ncclSum, comm_, stream_));
    } else {
      auto* halves = static_cast<std::uint16_t*>(lane.halves.reserve(2 * count));
      nccl::encode(values.data(), halves, count, weight, stream_);
      settle(ncclAllReduce(halves, halves, count, ncclBfloat16, ncclSum, comm_, stream_));
      nccl::decode(halves, values.data(), count, stream_);
    }
    check(cudaGetLastError(), "a sum on the GPU");
  }

  void wait_for(const Lane& lane) {
    for (int looks = 1;; ++looks) {
      const cudaError_t state = cudaEventQuery(lane.done);
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) check(state, "a sum on the GPU");
      if (looks % kLooksBetweenChecks != 0) continue;
      ncclResult_t result = ncclSuccess;
      if (ncclCommGetAsyncError(comm_, &result) == ncclSuccess && result != ncclSuccess &&
          result != ncclInProgress)
        report(result);
      group_.check();
    }
  }

  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::deque<std::unique_ptr<Lane>> lanes_;  // under way, the oldest first
  std::deque<std::unique_ptr<Lane>> free_;
  Ticket started_ = 0;
  Ticket done_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(Group& group) {
  return std::make_unique<Nccl>(group);
}

}  // namespace doetune::workloads
