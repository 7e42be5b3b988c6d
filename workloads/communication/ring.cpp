#include "workloads/communication/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "workloads/communication/bfloat16.h"

namespace doetune::workloads {
namespace {

/// Values that go over a link at a time: their copies fit into the second-level cache.
constexpr std::size_t kSlice = 32 * 1024;

class RingAllReduce {
 public:
  RingAllReduce(RingLink& link, int rank, int size) : link_(link), rank_(rank), size_(size) {}

  void operator()(std::span<float> values, CommunicationType type) {
    values_ = values;
    type_ = type;
    for (int step = 0; step < size_ - 1; ++step) pass(rank_ - step, rank_ - step - 1, true);
    if (type_ == CommunicationType::bf16)  // the sum that this rank has is what the others get
      for (float& value : chunk(rank_ + 1)) value = from_bfloat16(to_bfloat16(value));
    for (int step = 0; step < size_ - 1; ++step) pass(rank_ + 1 - step, rank_ - step, false);
  }

 private:
  std::span<float> chunk(int index) const {
    const auto c = static_cast<std::size_t>((index % size_ + size_) % size_);
    const auto n = static_cast<std::size_t>(size_);
    const std::size_t begin = values_.size() / n * c + values_.size() % n * c / n;
    const std::size_t end = values_.size() / n * (c + 1) + values_.size() % n * (c + 1) / n;
    return values_.subspan(begin, end - begin);
  }

  /// One step of the ring, slice by slice.
  void pass(int send, int receive, bool add) {
    const std::span<float> out = chunk(send);
    const std::span<float> in = chunk(receive);
    const std::size_t longest = (values_.size() + size_ - 1) / size_;
    for (std::size_t at = 0; at == 0 || at < longest; at += kSlice) {
      const auto slice = [&](std::span<float> all) {
        const std::size_t from = std::min(at, all.size());
        return all.subspan(from, std::min(kSlice, all.size() - from));
      };
      if (type_ == CommunicationType::fp32)
        pass_fp32(slice(out), slice(in), add);
      else
        pass_bf16(slice(out), slice(in), add);
    }
  }

  void pass_fp32(std::span<const float> out, std::span<float> in, bool add) {
    if (!add) return link_.exchange(std::as_bytes(out), std::as_writable_bytes(in));
    scratch_.resize(kSlice);
    const std::span<float> received = std::span(scratch_).first(in.size());
    link_.exchange(std::as_bytes(out), std::as_writable_bytes(received));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] += received[i];
  }

  void pass_bf16(std::span<const float> out, std::span<float> in, bool add) {
    half_out_.resize(kSlice);
    half_in_.resize(kSlice);
    std::ranges::transform(out, half_out_.begin(), to_bfloat16);
    const std::span<std::uint16_t> received = std::span(half_in_).first(in.size());
    link_.exchange(std::as_bytes(std::span(half_out_).first(out.size())),
                   std::as_writable_bytes(received));
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = from_bfloat16(received[i]) + (add ? in[i] : 0.0F);
  }

  RingLink& link_;
  int rank_;
  int size_;
  std::span<float> values_;
  CommunicationType type_ = CommunicationType::fp32;
  std::vector<float> scratch_;
  std::vector<std::uint16_t> half_out_;
  std::vector<std::uint16_t> half_in_;
};

class Ring final : public Communicator {
 public:
  Ring(Group& group, std::unique_ptr<RingLink> link, std::string_view name)
      : Communicator(group),
        link_(std::move(link)),
        name_(name),
        all_reduce_(*link_, rank(), size()),
        worker_([this] { work(); }) {}

  ~Ring() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      if (done_ < started_)
        group_.fail(rank_name(rank(), size()) + " ended before its sums", kExitFailed);
    }
    changed_.notify_all();
    worker_.join();
  }

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    const std::lock_guard lock(mutex_);
    queue_.push_back({values, type, weight});
    changed_.notify_all();
    return ++started_;
  }

  void wait(Ticket ticket) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= ticket || failure_; });
    if (done_ < ticket) std::rethrow_exception(failure_);
  }

  std::string_view name() const override { return name_; }

 private:
  struct Operation {
    std::span<float> values;
    CommunicationType type;
    float weight;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
      if (stop_ || failure_) return;
      const Operation operation = queue_.front();
      queue_.pop_front();
      lock.unlock();
      const std::exception_ptr failure = attempt(operation);
      lock.lock();
      failure_ = failure;
      if (!failure) ++done_;
      changed_.notify_all();
      if (failure) return;
    }
  }

  std::exception_ptr attempt(const Operation& operation) try {
    if (operation.weight != 1)
      for (float& value : operation.values) value *= operation.weight;
    all_reduce_(operation.values, operation.type);
    return {};
  } catch (...) {
    return std::current_exception();
  }

  std::unique_ptr<RingLink> link_;
  std::string_view name_;
  RingAllReduce all_reduce_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  Ticket started_ = 0;
  Ticket done_ = 0;
  std::exception_ptr failure_;
  bool stop_ = false;
  std::thread worker_;
};

}  // namespace

std::span<std::byte> Frame::rest() {
  const auto head = std::as_writable_bytes(std::span(&header_, 1));
  return moved_ < head.size() ? head.subspan(moved_) : payload_.subspan(moved_ - head.size());
}

std::array<iovec, 2> Frame::parts() {
  const std::size_t header_left = sizeof header_ - std::min(moved_, sizeof header_);
  const std::size_t payload_done = moved_ - (sizeof header_ - header_left);
  return {
      iovec{reinterpret_cast<std::byte*>(&header_) + (sizeof header_ - header_left), header_left},
      iovec{payload_.data() + payload_done, payload_.size() - payload_done}};
}

void RingLink::exchange(std::span<const std::byte> out, std::span<std::byte> in) {
  // A frame that is sent is only read.
  Frame sent(number_, {const_cast<std::byte*>(out.data()), out.size()});
  Frame received(number_, in);
  const FrameHeader expected = received.header();
  ++number_;
  move(sent, received, expected);
}

void RingLink::check(const Frame& in, const FrameHeader& expected) const {
  if (in.fits(expected)) return;
  throw std::runtime_error(
      fmt::format("{} is out of step: it sends frame {} of {} bytes, expected is frame {} of {}",
                  rank_name(previous(), group_.size()), in.header().number, in.header().bytes,
                  expected.number, expected.bytes));
}

std::unique_ptr<Communicator> make_ring(Group& group, std::unique_ptr<RingLink> link,
                                        std::string_view name) {
  return std::make_unique<Ring>(group, std::move(link), name);
}

}  // namespace doetune::workloads
