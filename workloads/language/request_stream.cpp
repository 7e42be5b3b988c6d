#include "workloads/language/request_stream.h"

#include "base/clock.h"
#include "base/random.h"

namespace doetune::workloads {
namespace {

/// Streams of random numbers, beside those of the requests, which have their numbers.
constexpr std::uint64_t kArrivals = ~std::uint64_t{0};

}  // namespace

GenerationRequest make_request(const RequestKind& kind, std::int64_t number) {
  RandomStream random(kind.seed, static_cast<std::uint64_t>(number));
  GenerationRequest request;
  request.number = number;
  request.prompt.resize(static_cast<std::size_t>(kind.prompt.draw(random)));
  request.answer_tokens = kind.answer.draw(random);
  for (int& token : request.prompt)
    token = static_cast<int>(random.below(static_cast<std::uint64_t>(kind.vocabulary)));
  return request;
}

RequestStream::RequestStream(const RequestKind& kind, std::optional<double> rate) : kind_(kind) {
  if (!rate) return;
  arrivals_.emplace(*rate, monotonic_s(), kind.seed, kArrivals);
  next_arrival_s_ = arrivals_->next();
}

std::optional<GenerationRequest> RequestStream::next() {
  const std::scoped_lock lock(mutex_);
  const double now_s = monotonic_s();
  if (arrivals_ && next_arrival_s_ > now_s) return std::nullopt;
  GenerationRequest request = make_request(kind_, number_++);
  request.arrival_s = now_s;
  if (arrivals_) {
    request.arrival_s = next_arrival_s_;
    next_arrival_s_ = arrivals_->next();
  }
  return request;
}

}  // namespace doetune::workloads
