// Memory that several processes see, and files seen as memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/file_descriptor.h"

namespace doetune::workloads {

enum class Access { read_only, read_write };

/// Owns a shared mapping of a whole open file. Throws std::bad_alloc if it cannot be mapped.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, Access access);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), size_}; }
  std::span<float> floats() const { return {static_cast<float*>(data_), size_ / sizeof(float)}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file of `bytes` zeros that exists in memory alone and goes with its last descriptor, closed in
/// programs that are started later. Throws std::bad_alloc.
FileDescriptor make_memory_file(const std::string& name, std::size_t bytes);

}  // namespace doetune::workloads
