#include "runner/processes/capped_output.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace doetune::runner {

CappedOutput::CappedOutput(const std::filesystem::path& file, std::size_t head_bytes,
                           std::size_t tail_bytes)
    : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      head_left_(head_bytes),
      tail_bytes_(tail_bytes) {
  if (!file_.is_open()) problem_ = std::strerror(errno);
}

void CappedOutput::write_to_file(std::string_view bytes) {
  while (file_.is_open() && !bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      problem_ = std::strerror(errno);
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void CappedOutput::write(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, head_left_);
  write_to_file(head);
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
    write_to_file(fmt::format("\n[doetune: {} bytes omitted here]\n", left_out_));
  }
  write_to_file(tail_);
  tail_.clear();
  file_.close();
}

}  // namespace doetune::runner
