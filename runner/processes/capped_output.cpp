#include "runner/processes/capped_output.h"
#include "base/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

namespace doetune::runner {
namespace {

void write_all(const FileDescriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

CappedOutput::CappedOutput(const std::filesystem::path& file, std::size_t head_bytes,
                           std::size_t tail_bytes)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      head_left_(head_bytes),
      tail_bytes_(tail_bytes) {}

void CappedOutput::write(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, head_left_);
  write_all(file_, head);
  head_left_ -= head.size();
  tail_ += bytes.substr(head.size());
  if (tail_.size() > 2 * tail_bytes_) {  // dropping rarely keeps the cost per byte constant
    left_out_ += tail_.size() - tail_bytes_;
    tail_.erase(0, tail_.size() - tail_bytes_);
  }
}

void CappedOutput::finish() {
  if (tail_.size() > tail_bytes_) {
    left_out_ += tail_.size() - tail_bytes_;
    tail_.erase(0, tail_.size() - tail_bytes_);
  }
  if (left_out_ > 0) {
    write_all(file_, fmt::format("\n"
                                 "[doetune: {} bytes omitted here]\n",
                                 left_out_));
  }
  write_all(file_, tail_);
  tail_.clear();
  file_.close();
}

}  // namespace doetune::runner
