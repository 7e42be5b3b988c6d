// Decoding of the frames that an executor analyses.
#pragma once

#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "workloads/stream/stream_plan.h"
#include "workloads/video/clip.h"
#include "workloads/video/decoded_image.h"

namespace doetune::workloads {

/// Decodes selected frames of the cameras' video. Where frames are coded independently, only these;
/// else all frames since the last one selected, with a stateful decoder for each camera. Used by
/// one thread.
class CameraDecoder {
 public:
  explicit CameraDecoder(const Clip& clip, std::optional<int> gpu = {}) : clip_(clip), gpu_(gpu) {}

  /// The frames of a camera must be in order. Valid until the next call.
  YcbcrView decode(const StreamFrame& frame);
  /// Keeps the last image's memory, as FrameDecoder does.
  std::shared_ptr<const void> hold() const { return last_->hold(); }
  /// Frames were dropped: each camera continues at the key frame before its next selected frame.
  void skip();

 private:
  struct Camera {
    FrameDecoder decoder;
    std::int64_t next = -1;  // index of the camera's next frame; -1: start at a key frame
    YcbcrView image = {};
  };
  YcbcrView decode_in_order(const StreamFrame& frame, Camera& camera);

  const Clip& clip_;
  const std::optional<int> gpu_;
  std::map<int, Camera> cameras_;
  FrameDecoder* last_ = nullptr;
};

/// Images in the order of their share.
class DecodedImages {
 public:
  virtual ~DecodedImages() = default;
  /// The next image, valid until the next call, and longer for whoever keeps it. Throws what its
  /// decoding threw.
  virtual DecodedImage next() = 0;
  /// Seconds spent on decoding since the last call, by all threads together.
  virtual double take_busy_s() = 0;
};

/// An executor's decoders: threads that decode ahead into a bounded ring of images, or none, where
/// the executor itself decodes.
///
/// These are threads and a ring in the executor rather than processes and shared memory: the
/// executor is the only reader of its images, so that they need not be copied, and nothing outlives
/// it.
class Decoders : public DecodedImages {
 public:
  /// `ahead`: images in the ring; `gpu`: decodes on this one, see FrameDecoder.
  Decoders(const Clip& clip, int threads, int ahead, std::optional<int> gpu = {});
  ~Decoders() override;
  Decoders(const Decoders&) = delete;
  Decoders& operator=(const Decoders&) = delete;

  /// Starts to decode a share, after the previous one was taken completely. `skipped`: shares in
  /// between were dropped.
  void begin(std::vector<StreamFrame> share, bool skipped);
  DecodedImage next() override;
  double take_busy_s() override;

 private:
  struct Slot {
    DecodedImage image = {};
    bool ready = false;
  };

  void work(int thread);
  bool belongs_to(const StreamFrame& frame, std::size_t item, int thread) const;
  void decode_into_ring(CameraDecoder& decoder, std::size_t item,
                        std::unique_lock<std::mutex>& lock);

  const Clip& clip_;
  const std::optional<int> gpu_;
  const int thread_count_;
  CameraDecoder own_;  // used without threads

  std::mutex mutex_;  // guards the members below
  std::condition_variable work_to_do_;
  std::condition_variable image_ready_;
  std::vector<Slot> ring_;  // item i of the share is in slot i modulo the size
  std::vector<StreamFrame> share_;
  std::int64_t share_number_ = 0;
  std::int64_t skips_ = 0;
  std::size_t taken_ = 0;
  Slot current_;
  double busy_s_ = 0;
  std::exception_ptr error_;
  bool stop_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace doetune::workloads
