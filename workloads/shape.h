// Shapes of images and tensors.
#pragma once

#include <cstdint>

namespace doetune::workloads {

/// Shape of one image's tensor. Host buffers store it as height x width x channels (NHWC).
struct Shape {
  int channels = 0;
  int height = 0;
  int width = 0;

  std::int64_t elements() const { return std::int64_t{channels} * height * width; }
  bool operator==(const Shape&) const = default;
};

/// Height and width of a kernel, padding or image.
struct Extent {
  int height = 1;
  int width = 1;
  bool operator==(const Extent&) const = default;
};

}  // namespace doetune::workloads
