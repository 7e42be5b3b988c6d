// A synthetic image classification task, generated from random numbers.
#pragma once

#include "workloads/data/data_set.h"

namespace doetune::workloads {

/// 32 x 32 images of 20 superclasses of 5 fine classes each, in the manner of CIFAR-100.
///
/// A fine class is a sum of three oriented colour gratings: two common to its superclass, one of
/// its own. An image shows the gratings of its class, each with a random phase, in a Gaussian
/// window of random position and width and at a random scale; fainter, in another window, those of
/// a distractor from another superclass; and noise in each pixel. 5 % of the labels name another
/// superclass, so the expected accuracy of no classifier exceeds 95 %.
///
/// The classes are the same for every seed. Images are computed in integer arithmetic: image
/// `first` + i of a seed is the same, bit for bit, on every machine.
class GeneratedImages : public DataSet {
 public:
  static constexpr int kSuperclasses = 20;
  static constexpr int kFineClasses = 100;
  static constexpr double kLabelNoise = 0.05;

  /// Labels are superclasses with `classes` 20, fine classes with 100.
  GeneratedImages(int classes, std::uint64_t seed, std::int64_t first, std::int64_t count)
      : classes_(classes), seed_(seed), first_(first), count_(count) {}

  std::int64_t count() const override { return count_; }
  int classes() const override { return classes_; }
  Shape shape() const override { return {3, 32, 32}; }
  int fill(std::int64_t index, std::span<float> image) const override;

  /// The fine class that the image shows, whatever its label.
  int shown(std::int64_t index) const;

 private:
  int classes_;
  std::uint64_t seed_;
  std::int64_t first_, count_;
};

}  // namespace doetune::workloads
