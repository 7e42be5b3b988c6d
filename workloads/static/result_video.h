// Assembles the result video from the frames coded by the executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/static/static_report.h"
#include "workloads/video/video_writer.h"

namespace doetune::workloads {

/// Takes batches in any order and writes their frames in image order. Without a path, it writes an
/// unnamed file, which is freed with this object.
class ResultVideo {
 public:
  /// Throws UsageError for a file extension that is not of a supported container.
  ResultVideo(const std::filesystem::path& path, double frames_per_second);
  ~ResultVideo();

  /// Adds the frames of a batch; `coded` as in BatchReport.
  void add(const BatchReport& report, std::vector<std::byte> coded);

  /// Call once all batches have been added: renames the file to its path.
  void finish();

 private:
  struct Frames {
    int width;
    int height;
    std::vector<std::byte> coded;
  };

  void write(const Frames& frames);

  std::filesystem::path path_;
  FileDescriptor nameless_;
  std::filesystem::path partial_;  ///< the file being written
  std::string container_;
  double frames_per_second_;
  std::map<std::int64_t, Frames> waiting_;  ///< for earlier batches
  std::int64_t next_ = 0;
  int width_ = 0;
  int height_ = 0;
  std::unique_ptr<VideoWriter> writer_;
};

}  // namespace doetune::workloads
