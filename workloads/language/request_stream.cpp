#include "workloads/language/request_stream.h"

#include <utility>

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
  coming_ = arriving();
}

GenerationRequest RequestStream::arriving() {
  GenerationRequest request = make_request(kind_, number_++);
  request.arrival_s = arrivals_ ? arrivals_->next() : monotonic_s();
  return request;
}

std::optional<GenerationRequest> RequestStream::next(const HasRoom& has_room) {
  const std::scoped_lock lock(mutex_);
  if (!arrivals_) return arriving();
  if (coming_.arrival_s > monotonic_s() || !has_room(coming_)) return std::nullopt;
  return std::exchange(coming_, arriving());
}

}  // namespace doetune::workloads
