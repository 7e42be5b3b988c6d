#include "workloads/communication/nccl/nccl_communicator.h"

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "workloads/communication/nccl/conversion.h"
#include "workloads/engines/cudnn/device.h"

namespace doetune::workloads {
namespace {

using cudnn::DeviceBuffer;
using cudnn::Event;
using cudnn::PinnedBuffer;
using cudnn::Stream;

constexpr int kLooksBetweenChecks = 1000;
constexpr int kLooksAwake = 5000;  // a few milliseconds: longer than a sum takes
constexpr std::chrono::microseconds kNap{100};

/// Makes the buffer hold at least this many bytes; its contents may be lost.
void* reserve(PinnedBuffer& buffer, std::size_t bytes) {
  if (std::cmp_greater(bytes, buffer.bytes()))
    buffer = PinnedBuffer(static_cast<std::int64_t>(bytes));
  return buffer.data();
}
void* reserve(DeviceBuffer& buffer, std::size_t bytes) {
  if (std::cmp_greater(bytes, buffer.bytes()))
    buffer = DeviceBuffer(static_cast<std::int64_t>(bytes), "communication");
  return buffer.data();
}

/// The resources of one operation in flight.
struct Lane {
  PinnedBuffer staged;
  DeviceBuffer floats;
  DeviceBuffer halves;
  Event done;
  std::span<float> host = {};  // destination of a sum that goes to the host
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
  using TimePoint = Clock::time_point;

 public:
  Nccl(Communicator& processes, std::chrono::duration<double> patience)
      : Communicator({processes.rank(), processes.size(), processes.local_rank()}),
        processes_(processes),
        patience_(patience) {
    const ncclUniqueId id = shared_id();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    settle_soon(sums_.comm, ncclCommInitRankConfig(&sums_.comm, size(), id, rank(), &config));
  }

  ~Nccl() override {
    if (std::uncaught_exceptions() > exceptions_) abort_all();
    for (Way* way : {&up_, &down_, &sums_}) {
      finish(way->comm);
      cudaStreamSynchronize(way->stream);
    }
  }

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    auto lane = sums_.take_lane();
    float* data = values.data();
    lane->host = {};
    if (!values.empty() && !on_gpu(data)) {
      lane->host = values;
      data = upload(*lane, values, sums_);
    }
    reduce(*lane, {data, values.size()}, type, weight);
    if (!lane->host.empty()) download(*lane, {data, values.size()}, sums_);
    lane->done.record(sums_.stream);
    sums_.under_way.push_back(std::move(lane));
    return ++started_;
  }

  void wait(Ticket ticket) override {
    for (; done_ < ticket && !sums_.under_way.empty(); ++done_) {
      const Lane& lane = *sums_.under_way.front();
      wait_for(lane, sums_);
      if (!lane.host.empty())
        std::memcpy(lane.host.data(), lane.staged.data(), lane.host.size_bytes());
      sums_.release_oldest();
    }
  }

  void send(std::span<const float> values, int to, CommunicationType type) override {
    Way& way = way_of(to, to > rank());
    while (!way.under_way.empty() && way.under_way.front()->done.past()) way.release_oldest();
    way.under_way.push_back(way.take_lane());
    Lane& lane = *way.under_way.back();
    const float* data = upload(lane, values, way);
    if (type == CommunicationType::fp32) {
      settle(way.comm, ncclSend(data, values.size(), ncclFloat32, to, way.comm, way.stream));
    } else {
      auto* halves = static_cast<std::uint16_t*>(reserve(lane.halves, 2 * values.size()));
      nccl::encode(data, halves, values.size(), 1, way.stream);
      settle(way.comm, ncclSend(halves, values.size(), ncclBfloat16, to, way.comm, way.stream));
    }
    lane.done.record(way.stream);
  }

  std::future<std::vector<float>> receive(std::size_t count, int from,
                                          CommunicationType type) override {
    Way& way = way_of(from, from < rank());
    const std::shared_ptr<Lane> lane(way.take_lane().release(),
                                     [&way](Lane* done) { way.free.emplace_back(done); });
    auto* data = static_cast<float*>(reserve(lane->floats, count * sizeof(float)));
    if (type == CommunicationType::fp32) {
      settle(way.comm, ncclRecv(data, count, ncclFloat32, from, way.comm, way.stream));
    } else {
      auto* halves = static_cast<std::uint16_t*>(reserve(lane->halves, 2 * count));
      settle(way.comm, ncclRecv(halves, count, ncclBfloat16, from, way.comm, way.stream));
      nccl::decode(halves, data, count, way.stream);
    }
    download(*lane, {data, count}, way);
    lane->done.record(way.stream);
    return std::async(std::launch::deferred, [this, lane, count, &way] {
      wait_for(*lane, way);
      const std::span<float> values = lane->staged.as<float>().first(count);
      return std::vector<float>(values.begin(), values.end());
    });
  }

  Values allocate(std::size_t count) override {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(float));
    const auto buffer = std::make_shared<DeviceBuffer>(bytes, "values");
    cudnn::check(cudaMemsetAsync(buffer->data(), 0, count * sizeof(float), sums_.stream),
                 "values on the GPU");
    sums_.stream.wait();
    return {{static_cast<float*>(buffer->data()), count}, buffer};
  }

  bool on_gpus() const override { return true; }
  std::string_view name() const override { return "nccl"; }
  void end_all(int exit_code) const override { processes_.end_all(exit_code); }

 private:
  /// Operations of one kind, in a communicator of their own. Operations of one NCCL communicator
  /// are serialised on the GPU, so neighbours that both send first would deadlock on a shared one.
  struct Way {
    explicit Way(const cudnn::Multiprocessors& all) : stream(all) {}
    ncclComm_t comm = nullptr;
    Stream stream;
    std::deque<std::unique_ptr<Lane>> under_way = {};  // sums, or messages sent; the oldest first
    // Kept, since freeing GPU memory waits for all work in progress there.
    std::deque<std::unique_ptr<Lane>> free = {};

    std::unique_ptr<Lane> take_lane() {
      if (free.empty()) return std::make_unique<Lane>();
      auto lane = std::move(free.front());  // longest free: bucket sizes recur cyclically
      free.pop_front();
      return lane;
    }
    void release_oldest() {
      free.push_back(std::move(under_way.front()));
      under_way.pop_front();
    }
  };

  cudnn::Multiprocessors take_gpu() const {
    std::string why_none;
    const int gpus = cudnn::visible_gpus(&why_none);
    if (local_rank() >= gpus)
      throw NoDevice(fmt::format(
          "{} has no GPU of its own, which transport nccl needs: {}", rank_name(rank(), size()),
          gpus == 0 ? why_none : fmt::format("this machine gives {}", gpus)));
    cudnn::check(cudaSetDevice(local_rank()), "the GPU of the rank");
    return cudnn::Multiprocessors(local_rank());
  }

  ncclUniqueId shared_id() const {
    ncclUniqueId id{};
    if (rank() == 0 && ncclGetUniqueId(&id) != ncclSuccess)
      throw std::runtime_error(fmt::format("NCCL: {}", ncclGetLastError(nullptr)));
    std::array<float, sizeof id.internal> bytes;  // small integers, exact
    std::ranges::copy(id.internal, bytes.begin());
    processes_.broadcast(bytes);
    std::ranges::transform(bytes, id.internal, [](float byte) { return static_cast<char>(byte); });
    return id;
  }

  /// Creates the communicators on first use, a collective call: all ranks of a pipeline get here.
  Way& way_of(int other, bool up) {
    check_neighbour(other);
    for (Way* way : {&up_, &down_})
      if (way->comm == nullptr)
        settle_soon(sums_.comm, ncclCommSplit(sums_.comm, 0, rank(), &way->comm, nullptr));
    return up ? up_ : down_;
  }

  /// Completes what this rank has yet to send, then destroys the communicator.
  void finish(ncclComm_t& comm) {
    try {
      if (comm == nullptr) return;
      settle_soon(comm, ncclCommFinalize(comm));
      ncclCommDestroy(comm);
      comm = nullptr;
    } catch (const std::exception&) {
      abort_all();
    }
  }

  /// Aborts operations that wait for a rank that has ended: freeing memory would wait for them.
  void abort_all() {
    for (Way* way : {&up_, &down_, &sums_})
      if (way->comm != nullptr) ncclCommAbort(std::exchange(way->comm, nullptr));
  }

  /// Waits for a non-blocking NCCL call. Another rank may come to the same call much later.
  void settle(ncclComm_t& comm, ncclResult_t result, TimePoint deadline = TimePoint::max()) {
    while (result == ncclInProgress) {
      if (Clock::now() > deadline) give_up();
      std::this_thread::sleep_for(kNap);
      if (ncclCommGetAsyncError(comm, &result) != ncclSuccess) break;
    }
    if (result != ncclSuccess) report(result);
  }

  /// For a call that all ranks make at about the same time.
  void settle_soon(ncclComm_t& comm, ncclResult_t result) {
    settle(comm, result, Clock::now() + std::chrono::duration_cast<Clock::duration>(patience_));
  }

  [[noreturn]] void give_up() {
    abort_all();
    throw std::runtime_error(fmt::format(
        "NCCL has not connected the ranks within {} s; NCCL_DEBUG=INFO shows what it tries",
        patience_.count()));
  }

  [[noreturn]] void report(ncclResult_t result) {
    const std::string why =
        fmt::format("NCCL: {}: {}", ncclGetErrorString(result), ncclGetLastError(sums_.comm));
    abort_all();
    throw std::runtime_error(why);
  }

  static float* upload(Lane& lane, std::span<const float> values, const Way& way) {
    const std::size_t bytes = values.size_bytes();
    std::memcpy(reserve(lane.staged, bytes), values.data(), bytes);
    auto* data = static_cast<float*>(reserve(lane.floats, bytes));
    cudnn::check(
        cudaMemcpyAsync(data, lane.staged.data(), bytes, cudaMemcpyHostToDevice, way.stream),
        "values to the GPU");
    return data;
  }

  static void download(Lane& lane, std::span<const float> values, const Way& way) {
    const std::size_t bytes = values.size_bytes();
    cudnn::check(cudaMemcpyAsync(reserve(lane.staged, bytes), values.data(), bytes,
                                 cudaMemcpyDeviceToHost, way.stream),
                 "values from the GPU");
  }

  void reduce(Lane& lane, std::span<float> values, CommunicationType type, float weight) {
    const std::size_t count = values.size();
    const Stream& stream = sums_.stream;
    if (type == CommunicationType::fp32) {
      if (weight != 1) nccl::scale(values.data(), count, weight, stream);
      settle(sums_.comm, ncclAllReduce(values.data(), values.data(), count, ncclFloat32, ncclSum,
                                       sums_.comm, stream));
    } else {
      auto* halves = static_cast<std::uint16_t*>(reserve(lane.halves, 2 * count));
      nccl::encode(values.data(), halves, count, weight, stream);
      settle(sums_.comm,
             ncclAllReduce(halves, halves, count, ncclBfloat16, ncclSum, sums_.comm, stream));
      nccl::decode(halves, values.data(), count, stream);
    }
    cudnn::check(cudaGetLastError(), "a sum on the GPU");
  }

  void wait_for(const Lane& lane, const Way& way) {
    for (std::int64_t looks = 1; !lane.done.past(); ++looks) {
      if (looks > kLooksAwake) std::this_thread::sleep_for(kNap);
      if (looks % kLooksBetweenChecks != 0) continue;
      ncclResult_t result = ncclSuccess;
      if (ncclCommGetAsyncError(way.comm, &result) == ncclSuccess && result != ncclSuccess &&
          result != ncclInProgress)
        report(result);
    }
  }

  int exceptions_ = std::uncaught_exceptions();
  Communicator& processes_;
  std::chrono::duration<double> patience_;
  cudnn::Multiprocessors multiprocessors_ = take_gpu();
  Way sums_{multiprocessors_};
  Way up_{multiprocessors_};
  Way down_{multiprocessors_};
  Ticket started_ = 0;
  Ticket done_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(Communicator& processes,
                                                     std::chrono::duration<double> patience) {
  return std::make_unique<Nccl>(processes, patience);
}

}  // namespace doetune::workloads
