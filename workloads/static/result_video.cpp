#include "workloads/static/result_video.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <utility>

#include "base/file_descriptor.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

/// An unnamed file on disk, or in memory where the file system does not support that.
FileDescriptor make_nameless_file() {
  std::error_code none;
  const fs::path directory = fs::temp_directory_path(none);
  FileDescriptor file(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return file ? std::move(file) : make_memory_file("doetune-video", 0);
}

}  // namespace

ResultVideo::ResultVideo(const fs::path& path, double frames_per_second)
    : path_(path),
      container_(path.empty() ? "avi" : container_of(path)),
      frames_per_second_(frames_per_second) {
  if (container_.empty())
    throw UsageError(
        fmt::format("output = {} must end in .avi, .mkv, .mov or .mp4", path.string()));
  if (path_.empty()) nameless_ = make_nameless_file();
  partial_ = path_.empty() ? fmt::format("/proc/self/fd/{}", nameless_.get())
                           : path_.string() + ".partial";
}

ResultVideo::~ResultVideo() {
  std::error_code ignored;
  if (writer_ && !path_.empty()) fs::remove(partial_, ignored);
}

void ResultVideo::add(const BatchReport& report, std::vector<std::byte> coded) {
  waiting_[report.number] = {report.width, report.height, std::move(coded)};
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.erase(first), ++next_)
    write(first->second);
}

void ResultVideo::write(const Frames& frames) {
  std::span<const std::byte> left = frames.coded;
  if (left.empty()) return;
  if (!writer_) {
    width_ = frames.width;
    height_ = frames.height;
    writer_ =
        std::make_unique<VideoWriter>(partial_, container_, width_, height_, frames_per_second_);
  }
  if (frames.width != width_ || frames.height != height_)
    throw VideoError(fmt::format("images of {} x {} and of {} x {} pixels cannot be one video",
                                 width_, height_, frames.width, frames.height));
  while (!left.empty()) {
    std::uint32_t size = 0;
    std::memcpy(&size, left.data(), sizeof size);
    writer_->add(left.subspan(sizeof size, size));
    left = left.subspan(sizeof size + size);
  }
}

void ResultVideo::finish() {
  if (!writer_) return;
  writer_->finish();
  writer_.reset();
  if (!path_.empty()) fs::rename(partial_, path_);
}

}  // namespace doetune::workloads
