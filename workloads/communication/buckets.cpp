#include "workloads/communication/buckets.h"
#include "base/clock.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace doetune::workloads {
namespace {

constexpr std::int64_t kAligned = 16 / sizeof(float);

}  // namespace

std::vector<Bucket> make_buckets(std::int64_t count, std::int64_t size, std::int64_t first) {
  if (size < 1 || first < 1) throw std::invalid_argument("a bucket holds at least one float");
  std::vector<Bucket> buckets;
  std::int64_t end = count;
  for (std::int64_t next = std::min(size, first); end > 0; next = size) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - next) / kAligned * kAligned;
    buckets.push_back({begin, end});
    end = begin;
  }
  return buckets;
}

GradientSum::GradientSum(Communicator& communicator, std::span<float> gradients,
                         std::int64_t bucket, CommunicationType type)
    : communicator_(communicator),
      gradients_(gradients),
      type_(type),
      buckets_(make_buckets(static_cast<std::int64_t>(gradients.size()), bucket, kFirstBucket)) {}

GradientSum::~GradientSum() {
  try {
    communicator_.wait(last_);
  } catch (...) {  // a rank has ended, and the sums with it
  }
}

void GradientSum::begin(float weight) {
  weight_ = weight;
  started_ = 0;
}

void GradientSum::ready(std::int64_t offset) {
  for (; started_ < buckets_.size() && buckets_[started_].begin >= offset; ++started_) {
    const auto [begin, end] = buckets_[started_];
    last_ = communicator_.start_all_reduce(
        gradients_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
        type_, weight_);
  }
}

double GradientSum::wait() {
  if (started_ != buckets_.size())
    throw std::logic_error("the backward pass has not finished the gradients");
  const auto start = Clock::now();
  communicator_.wait(last_);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace doetune::workloads
