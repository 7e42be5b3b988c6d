// What a batch of images took, stage by stage, and what passes between the processes of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace doetune::workloads {

/// What is done with an image, in this order.
enum class Stage : std::size_t {
  read,    ///< of the file; a video's is read as it is decoded
  decode,  ///< to planes of samples
  resize,  ///< into the network's input
  infer,   ///< by the network
  post,    ///< from its output to boxes, a class, or a spot
  render,  ///< the spot into the frame
  write,   ///< coding the frame, and putting it into the video
};
inline constexpr std::array<std::string_view, 7> kStages{"read", "decode", "resize", "infer",
                                                         "post", "render", "write"};

/// Seconds for each stage.
struct StageTimes {
  std::array<double, kStages.size()> seconds{};

  double& operator[](Stage stage) { return seconds[static_cast<std::size_t>(stage)]; }
  double operator[](Stage stage) const { return seconds[static_cast<std::size_t>(stage)]; }
  double sum() const;
  StageTimes& operator+=(const StageTimes& other);
};

/// The first packet of an executor: it is ready.
struct ExecutorReady {
  std::int64_t batches_ahead = 1;  ///< that it can have at once without waiting for the next one
};

/// Images to work on; to an executor.
struct BatchOrder {
  std::int64_t number = 0;
  std::int64_t first = 0;  ///< image
  std::int64_t count = 0;
};

/// One bit a class, of the first 1024.
using ClassBits = std::array<std::uint64_t, 16>;

/// What came out of it; from an executor.
struct BatchReport {
  std::int64_t number = 0;
  std::int64_t images = 0;      ///< processed
  std::int64_t left_out = 0;    ///< images that are broken, or stacked with a broken one
  std::int64_t detections = 0;  ///< boxes, or spots
  ClassBits classes{};          ///< the likeliest of each image
  StageTimes times;
  std::int64_t coded_begin = 0;  ///< its coded frames in the executor's file, each after its size
  std::int64_t coded_bytes = 0;  ///< as a 32-bit integer
  int width = 0;                 ///< of the coded frames
  int height = 0;
  std::int64_t undecodable = 0;  ///< frames of the video, since the executor began
};

}  // namespace doetune::workloads
