#include "workloads/communication/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "workloads/communication/bfloat16.h"
#include "workloads/communication/worker.h"

namespace doetune::workloads {
namespace {

/// Values sent over a link at a time: their copies fit into the second-level cache.
constexpr std::size_t kSlice = 32 * 1024;

class RingAllReduce {
 public:
  RingAllReduce(RingLink& link, int rank, int size) : link_(link), rank_(rank), size_(size) {}

  void operator()(std::span<float> values, CommunicationType type) {
    values_ = values;
    type_ = type;
    for (int step = 0; step < size_ - 1; ++step) pass(rank_ - step, rank_ - step - 1, true);
    if (type_ == CommunicationType::bf16)  // as the others receive it
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

std::vector<std::byte> encoded(std::span<const float> values, CommunicationType type) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(type)));
  if (type == CommunicationType::fp32)
    std::ranges::copy(std::as_bytes(values), bytes.begin());
  else
    std::ranges::transform(values, reinterpret_cast<std::uint16_t*>(bytes.data()), to_bfloat16);
  return bytes;
}

std::vector<float> decoded(const std::vector<std::byte>& bytes, CommunicationType type) {
  std::vector<float> values(bytes.size() / static_cast<std::size_t>(bytes_of(type)));
  if (type == CommunicationType::fp32)
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
  else
    std::transform(reinterpret_cast<const std::uint16_t*>(bytes.data()),
                   reinterpret_cast<const std::uint16_t*>(bytes.data()) + values.size(),
                   values.begin(), from_bfloat16);
  return values;
}

class Ring final : public Communicator {
 public:
  Ring(Group& group, RingLinks links, std::string_view name)
      : Communicator(group),
        links_(std::move(links)),
        name_(name),
        all_reduce_(*links_.sums, rank(), size()) {}

  ~Ring() override {
    if (std::uncaught_exceptions() == exceptions_) finish_sending();
    if (!idle())
      group_.fail(rank_name(rank(), size()) + " ended before it had finished", kExitFailed);
  }

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    const auto sum = [=, this] {
      if (weight != 1)
        for (float& value : values) value *= weight;
      all_reduce_(values, type);
    };
    if (size() > 1) return sums_.start(sum);
    sum();
    return 0;
  }

  void wait(Ticket ticket) override { sums_.wait(ticket); }

  void send(std::span<const float> values, int to, CommunicationType type) override {
    RingLink& link = to == rank() + 1 ? *links_.up : *links_.down;
    Worker& worker = neighbour(to).sender;
    worker.start([&link, bytes = encoded(values, type)] { link.send(bytes); });
  }

  std::future<std::vector<float>> receive(std::size_t count, int from,
                                          CommunicationType type) override {
    RingLink& link = from == rank() - 1 ? *links_.up : *links_.down;
    Worker& worker = neighbour(from).receiver;
    const auto bytes =
        std::make_shared<std::vector<std::byte>>(count * static_cast<std::size_t>(bytes_of(type)));
    const Ticket ticket = worker.start([&link, bytes] { link.receive(*bytes); });
    return std::async(std::launch::deferred, [&worker, bytes, ticket, type] {
      worker.wait(ticket);
      return decoded(*bytes, type);
    });
  }

  std::string_view name() const override { return name_; }

 private:
  /// Sending and receiving never wait for each other: neighbours that both send first would
  /// deadlock.
  struct Neighbour {
    Worker sender;
    Worker receiver;
    bool idle() const { return sender.idle() && receiver.idle(); }
  };

  void finish_sending() {
    for (const auto& each : {before_.get(), after_.get()}) try {
        if (each != nullptr) each->sender.finish();
      } catch (const std::exception&) {  // the group reports why
      }
  }

  bool idle() const {
    return sums_.idle() && (!before_ || before_->idle()) && (!after_ || after_->idle());
  }

  Neighbour& neighbour(int other) {
    check_neighbour(other);
    auto& found = other < rank() ? before_ : after_;
    if (!found) found = std::make_unique<Neighbour>();
    return *found;
  }

  int exceptions_ = std::uncaught_exceptions();
  RingLinks links_;
  std::string_view name_;
  RingAllReduce all_reduce_;
  Worker sums_;
  std::unique_ptr<Neighbour> before_;
  std::unique_ptr<Neighbour> after_;
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
  Frame sent = Frame::of(sent_++, out);
  Frame received(received_++, in);
  const FrameHeader expected = received.header();
  move(sent, received, expected);
}

void RingLink::send(std::span<const std::byte> out) {
  Frame sent = Frame::of(sent_++, out);
  Frame nothing = Frame::finished();
  move(sent, nothing, nothing.header());
}

void RingLink::receive(std::span<std::byte> in) {
  Frame nothing = Frame::finished();
  Frame received(received_++, in);
  const FrameHeader expected = received.header();
  move(nothing, received, expected);
}

void RingLink::check(const Frame& in, const FrameHeader& expected) const {
  if (in.fits(expected)) return;
  throw std::runtime_error(
      fmt::format("{} is out of step: it sends frame {} of {} bytes, expected frame {} of {}",
                  rank_name(from(), group_.size()), in.header().number, in.header().bytes,
                  expected.number, expected.bytes));
}

std::unique_ptr<Communicator> make_ring(Group& group, RingLinks links, std::string_view name) {
  return std::make_unique<Ring>(group, std::move(links), name);
}

}  // namespace doetune::workloads
