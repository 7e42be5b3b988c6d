// The work and stage times of a batch of images, and the packets between the processes of a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace doetune::workloads {

/// The stages of processing an image, in order.
enum class Stage : std::size_t {
  read,    ///< the file; a video is read as it is decoded
  decode,  ///< to planes of samples
  resize,  ///< to the network's input
  infer,   ///< run the network
  post,    ///< from its output to boxes, a class, or a spot
  render,  ///< draw the spot into the frame
  write,   ///< code the frame, and write it to the video
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

/// The first packet of an executor.
struct ExecutorReady {
  std::int64_t batches_ahead = 1;  ///< maximum number of batches assigned to it at once
};

/// A batch to process; sent to an executor.
struct BatchOrder {
  std::int64_t number = 0;
  std::int64_t first = 0;  ///< index of the first image
  std::int64_t count = 0;
};

/// One bit per class, for the first 1024.
using ClassBits = std::array<std::uint64_t, 16>;

/// The results of a batch; sent by an executor.
struct BatchReport {
  std::int64_t number = 0;
  std::int64_t images = 0;      ///< number processed
  std::int64_t left_out = 0;    ///< broken images, or those stacked with a broken one
  std::int64_t detections = 0;  ///< boxes, or spots
  ClassBits classes{};          ///< the most probable class of each image
  StageTimes times;
  std::int64_t coded_begin = 0;  ///< offset of its coded frames in the executor's file
  std::int64_t coded_bytes = 0;  ///< each frame follows its size, a 32-bit integer
  int width = 0;                 ///< of the coded frames
  int height = 0;
  std::int64_t undecodable = 0;  ///< frames of the video, since the executor started
};

}  // namespace doetune::workloads
