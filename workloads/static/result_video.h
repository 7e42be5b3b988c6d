// The video of a run's results, put together from what the executors coded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/mapping.h"
#include "workloads/static/static_report.h"
#include "workloads/video/video_writer.h"

namespace doetune::workloads {

/// Takes batches in any order and writes their frames in that of the images. Given no path, it
/// writes a file without a name, which is gone with this object.
class ResultVideo {
 public:
  /// Throws UsageError for a path whose ending is that of no container.
  ResultVideo(const std::filesystem::path& path, double frames_per_second);
  ~ResultVideo();

  /// The frames of the next batch to come that has any; `coded` as in BatchReport.
  void add(const BatchReport& report, std::vector<std::byte> coded);

  /// When all batches are there: the file takes its name.
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
  std::filesystem::path partial_;  ///< what is written
  std::string container_;
  double frames_per_second_;
  std::map<std::int64_t, Frames> waiting_;  ///< for those before them
  std::int64_t next_ = 0;
  int width_ = 0;
  int height_ = 0;
  std::unique_ptr<VideoWriter> writer_;
};

}  // namespace doetune::workloads
