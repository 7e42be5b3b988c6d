// The CIFAR-100 data set (Krizhevsky, 2009), read from its binary files.
#pragma once

#include <filesystem>

#include "workloads/data/data_set.h"
#include "workloads/memory_mapping.h"

namespace doetune::workloads {

/// `train.bin` or `test.bin` of a directory, mapped. Each image is 3,074 bytes: its superclass
/// (0..19), its class (0..99), then 32 x 32 levels of red, of green and of blue.
/// Source: cs.toronto.edu/~kriz/cifar.html.
class Cifar100 : public DataSet {
 public:
  enum class Part { train, test };  // 50,000 and 10,000 images

  /// Labels are superclasses with `classes` 20, classes with 100. Throws UsageError, naming the
  /// file, where it cannot be read, has the wrong size, or holds a label out of range.
  Cifar100(const std::filesystem::path& directory, Part part, int classes);

  std::int64_t count() const override { return count_; }
  int classes() const override { return classes_; }
  Shape shape() const override { return {3, 32, 32}; }
  int fill(std::int64_t index, std::span<float> image) const override;

 private:
  std::span<const std::byte> record(std::int64_t index) const;
  void check_labels(const std::filesystem::path& file) const;

  int classes_;
  std::int64_t count_;
  Mapping mapping_;
};

}  // namespace doetune::workloads
