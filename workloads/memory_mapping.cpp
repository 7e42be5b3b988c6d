#include "workloads/memory_mapping.h"
#include "base/file_descriptor.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace doetune::workloads {

Mapping::Mapping(int fd, Access access) {
  struct stat status {};
  if (fstat(fd, &status) != 0) throw std::bad_alloc();
  size_ = static_cast<std::size_t>(status.st_size);
  const int protection = access == Access::read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = mmap(nullptr, size_, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  data_ = data;
}

Mapping::~Mapping() {
  if (data_ != nullptr) munmap(data_, size_);
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

FileDescriptor make_memory_file(const std::string& name, std::size_t bytes) {
  FileDescriptor file(memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) throw std::bad_alloc();
  return file;
}

}  // namespace doetune::workloads
