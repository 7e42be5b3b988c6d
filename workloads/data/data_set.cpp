#include "workloads/data/data_set.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>

#include "base/random.h"
#include "workloads/memory.h"

namespace doetune::workloads {
namespace {

/// The number of floats of all images, after a check that memory can hold them.
std::size_t elements_of(const DataSet& source) {
  const std::int64_t elements = source.count() * source.shape().elements();
  require_memory(elements * static_cast<std::int64_t>(sizeof(float)),
                 std::to_string(source.count()) + " images");
  return static_cast<std::size_t>(elements);
}

}  // namespace

ResidentImages::ResidentImages(const DataSet& source, int threads)
    : classes_(source.classes()),
      shape_(source.shape()),
      images_(elements_of(source)),
      labels_(static_cast<std::size_t>(source.count())) {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const auto fill_every = [&](int first) {
    for (std::int64_t i = first; i < source.count(); i += threads) {
      const auto at = static_cast<std::size_t>(i);
      labels_[at] = source.fill(i, std::span(images_).subspan(at * size, size));
    }
  };
  std::vector<std::jthread> workers;
  for (int t = 1; t < threads; ++t) workers.emplace_back(fill_every, t);
  fill_every(0);
}

int ResidentImages::fill(std::int64_t index, std::span<float> image) const {
  const auto size = static_cast<std::size_t>(shape_.elements());
  const auto from = std::span(images_).subspan(static_cast<std::size_t>(index) * size, size);
  std::ranges::copy(from, image.begin());
  return labels_[static_cast<std::size_t>(index)];
}

std::vector<std::int64_t> random_order(std::int64_t count, std::uint64_t key) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + random_below(key, i, order.size() - i)]);
  return order;
}

}  // namespace doetune::workloads
