#include "workloads/data/cifar100.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/file_descriptor.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

constexpr std::int64_t kImagePixels = 32 * 32;
constexpr std::int64_t kRecord = 2 + 3 * kImagePixels;

Mapping map_checked(const std::filesystem::path& file, std::int64_t count) {
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format(
        "cannot read {}: {}; `data` is the directory of CIFAR-100's train.bin and test.bin, or "
        "'generated'",
        file.string(), why));
  };
  // Opening a FIFO must not block.
  const FileDescriptor open_file(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!open_file || fstat(open_file.get(), &status) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  if (status.st_size != count * kRecord)
    throw UsageError(
        fmt::format("{} has {} bytes; {} images of CIFAR-100 are {} (the binary version)",
                    file.string(), status.st_size, count, count * kRecord));
  return {open_file.get(), Access::read_only};
}

}  // namespace

Cifar100::Cifar100(const std::filesystem::path& directory, Part part, int classes)
    : classes_(classes), count_(part == Part::train ? 50'000 : 10'000) {
  const auto file = directory / (part == Part::train ? "train.bin" : "test.bin");
  mapping_ = map_checked(file, count_);
  check_labels(file);
}

void Cifar100::check_labels(const std::filesystem::path& file) const {
  for (std::int64_t i = 0; i < count_; ++i) {
    const auto super = static_cast<int>(record(i)[0]);
    const auto fine = static_cast<int>(record(i)[1]);
    if (super >= 20 || fine >= 100)
      throw UsageError(
          fmt::format("{}: image {} has superclass {} and class {}; the largest are 19 and 99",
                      file.string(), i, super, fine));
  }
}

std::span<const std::byte> Cifar100::record(std::int64_t index) const {
  return mapping_.bytes().subspan(static_cast<std::size_t>(index * kRecord), kRecord);
}

int Cifar100::fill(std::int64_t index, std::span<float> image) const {
  const auto bytes = record(index);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t p = 0; p < kImagePixels; ++p)
      image[3 * p + c] = standardised(static_cast<int>(bytes[2 + c * kImagePixels + p]));
  return static_cast<int>(bytes[classes_ == 20 ? 0 : 1]);
}

}  // namespace doetune::workloads
