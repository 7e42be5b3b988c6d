// Labelled images for training and validation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "workloads/shape.h"

namespace doetune::workloads {

/// Images by index. An index always gives the same image, in any order and on any thread.
class DataSet {
 public:
  virtual ~DataSet() = default;

  virtual std::int64_t count() const = 0;
  virtual int classes() const = 0;
  virtual Shape shape() const = 0;

  /// Writes image `index` as height x width x channels floats (standardised) and returns its label,
  /// 0 .. classes - 1. Thread-safe.
  virtual int fill(std::int64_t index, std::span<float> image) const = 0;
};

/// The scaling of levels 0..255 in all data sets: mean near 0, standard deviation near 1.
constexpr float standardised(int level) { return (static_cast<float>(level) - 128.0F) / 64.0F; }

/// The images of `indices` from another data set, in that order. Both must outlive it.
class Subset : public DataSet {
 public:
  Subset(const DataSet& source, std::span<const std::int64_t> indices)
      : source_(source), indices_(indices) {}

  std::int64_t count() const override { return static_cast<std::int64_t>(indices_.size()); }
  int classes() const override { return source_.classes(); }
  Shape shape() const override { return source_.shape(); }
  int fill(std::int64_t index, std::span<float> image) const override {
    return source_.fill(indices_[static_cast<std::size_t>(index)], image);
  }

 private:
  const DataSet& source_;
  std::span<const std::int64_t> indices_;
};

/// Another data set's images, held in memory as floats.
class ResidentImages : public DataSet {
 public:
  /// Loads them by `threads` threads. Throws Infeasible, or std::bad_alloc, where memory cannot
  /// hold them.
  ResidentImages(const DataSet& source, int threads);

  std::int64_t count() const override { return static_cast<std::int64_t>(labels_.size()); }
  int classes() const override { return classes_; }
  Shape shape() const override { return shape_; }
  int fill(std::int64_t index, std::span<float> image) const override;

 private:
  int classes_;
  Shape shape_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
};

/// A permutation of 0 .. count - 1 that depends on the key alone (Fisher & Yates). Its first n are
/// a simple random sample, nested in that of any larger n.
std::vector<std::int64_t> random_order(std::int64_t count, std::uint64_t key);

}  // namespace doetune::workloads
