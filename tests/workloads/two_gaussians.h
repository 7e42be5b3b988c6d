// A classification task of known maximum accuracy.
#pragma once

#include <cmath>
#include <numbers>

#include "base/random.h"
#include "workloads/data/data_set.h"
#include "workloads/networks/network.h"

namespace doetune::workloads {

/// 48 independent normal variables of variance 1; the first has mean `distance` in class 1 and
/// -`distance` in class 0. The optimal classifier uses its sign only: a fraction Phi(distance) is
/// correct.
class TwoGaussians : public DataSet {
 public:
  TwoGaussians(double distance, std::int64_t first, std::int64_t count)
      : distance_(distance), first_(first), count_(count) {}

  std::int64_t count() const override { return count_; }
  int classes() const override { return 2; }
  Shape shape() const override { return {3, 4, 4}; }
  int fill(std::int64_t index, std::span<float> image) const override {
    const std::uint64_t key = random_bits(11, static_cast<std::uint64_t>(first_ + index));
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = std::sqrt(-2 * std::log(1 - random_unit(key, 2 * i))) *
                 std::cos(2 * std::numbers::pi_v<float> * random_unit(key, 2 * i + 1));
    const int label = static_cast<int>(random_below(~key, 0, 2));
    image[0] += static_cast<float>(label == 1 ? distance_ : -distance_);
    return label;
  }
  double best_accuracy() const { return 50 * std::erfc(-distance_ / std::numbers::sqrt2); }  // %

 private:
  double distance_;
  std::int64_t first_, count_;
};

/// Logistic regression, which can represent the optimal classifier.
inline Network linear_classifier() {
  return NetworkBuilder("linear", {3, 4, 4})
      .dense(2, Activation::linear)
      .build(ClassificationHead{2});
}

}  // namespace doetune::workloads
