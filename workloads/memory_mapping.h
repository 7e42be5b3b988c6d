// Shared memory: mapped files, and files in memory.
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

/// An anonymous file of `bytes` zeros (memfd), freed with its last descriptor and closed on exec.
/// Throws std::bad_alloc.
FileDescriptor make_memory_file(const std::string& name, std::size_t bytes);

}  // namespace doetune::workloads
