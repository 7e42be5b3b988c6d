// The device-independent interface of engines, which run and train networks. It names no device
// library.
//
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/infeasible.h"
#include "workloads/networks/detection.h"
#include "workloads/networks/network.h"
#include "workloads/video/decoded_image.h"

namespace doetune::workloads {

/// The precision of weights and activations; sums are fp32. tf32: fp32 numbers, multiplied on the
/// GPU's tensor cores with 10 bits of mantissa. An engine throws CannotRun for a precision that its
/// device lacks.
enum class Precision { fp32, tf32, bf16, fp16 };
std::string_view name_of(Precision precision);
/// Throws std::invalid_argument for an unknown name.
Precision precision_named(std::string_view name);
/// Bytes of one weight or activation in memory.
int bytes_of(Precision precision);

struct CompileOptions {
  int batch = 1;  // maximum number of images in one call
  Precision precision = Precision::fp32;
  int threads = 1;                     // CPU threads per call
  float confidence_threshold = 0.15F;  // minimum confidence of detections
  float overlap_threshold = 0.45F;     // above it, the less confident box is dropped
};

/// A network compiled for one device, with buffers of its own. Used by one thread at a time.
///
/// Work is asynchronous, so that the next batch can be loaded while the device is busy: load or
/// fill input(), submit, and wait for the oldest batch submitted. At most lanes() batches may be in
/// flight.
class CompiledNetwork {
 public:
  virtual ~CompiledNetwork() = default;

  /// The maximum number of batches in flight: 1 where submit itself does the work.
  virtual int lanes() const = 0;

  /// Host buffer of batch x height x width x channels floats (RGB in 0..1) for the next batch to be
  /// submitted, and uploaded with it. The engine owns it, in the memory that the device reads
  /// fastest. Where several batches may be in flight several buffers take turns; each keeps what
  /// was last written to it. A batch is only defined if this or load() was called for it.
  virtual std::span<float> input() = 0;

  /// Writes an image, scaled as by Resizer, into channels 3 frame .. 3 frame + 2 of an image of the
  /// next batch, on the device where that is faster than by input(). A batch is filled in one of
  /// the two ways. Samples with an owner may be read until the batch is submitted, others until
  /// load returns.
  virtual void load(int image, const DecodedImage& picture, int frame = 0) = 0;

  /// Starts to run the first `images` of the batch, 1 <= images <= batch. The first use of a number
  /// of images includes its preparation.
  virtual void submit(int images) = 0;

  /// Returns when the oldest batch submitted is done; output() and detections() refer to it until
  /// the next wait.
  virtual void wait() = 0;

  void infer(int images) {
    submit(images);
    wait();
  }

  /// Host buffer of batch x height x width x channels floats of the network's last layer.
  virtual std::span<const float> output() = 0;

  /// Boxes of an image after non-maximum suppression, by detection.h and the thresholds of the
  /// options. For networks with a DetectionHead.
  virtual std::vector<Detection> detections(int image) = 0;

  /// Device memory held by this network, in bytes.
  virtual std::int64_t device_bytes() const = 0;
};

class TrainableNetwork;  // in training.h
class TrainableStage;
struct TrainingOptions;

class Engine {
 public:
  virtual ~Engine() = default;

  /// Weights as in weights.h. They must outlive the compiled network: an engine may read them again
  /// for a new number of images. Throws CannotRun.
  virtual std::unique_ptr<CompiledNetwork> compile(const Network& network,
                                                   std::span<const float> weights,
                                                   const CompileOptions& options) = 0;

  /// A classifier that continues training from this state, in the blocks of parameters.h; see
  /// training.h. Throws CannotRun.
  virtual std::unique_ptr<TrainableNetwork> train(const Network& network,
                                                  std::span<const float> parameters,
                                                  std::span<const float> statistics,
                                                  const TrainingOptions& options);

  /// The same for a stage of a classifier (networks/stages.h), with this number of slots for
  /// micro-batches of at most options.batch images.
  virtual std::unique_ptr<TrainableStage> train_stage(const Network& stage,
                                                      std::span<const float> parameters,
                                                      std::span<const float> statistics,
                                                      const TrainingOptions& options, int slots);

  /// Names of library and device, for the notes of a run.
  virtual std::string description() const = 0;
};

/// The device cannot run this configuration: too little memory, or an unsupported precision.
struct CannotRun : Infeasible {
  using Infeasible::Infeasible;
};

/// The device does not exist here, or this build has no engine for it; the message gives the
/// reason.
struct NoDevice : Infeasible {
  using Infeasible::Infeasible;
};

/// A device, and the part of it to use: of the multiprocessors in `parts` groups of equal size that
/// do not overlap, the group `part` (a green context where there are several).
struct EngineOptions {
  int gpu = 0;  // index among those visible to this process
  int parts = 1;
  int part = 0;
};

/// The kinds of device, in order of preference.
struct EngineType {
  std::string_view device;  // "cuda", "cpu"
  /// Throws NoDevice.
  std::unique_ptr<Engine> (*make)(const EngineOptions& options);
  /// The number of devices for this process; `why_none` gets the reason where there is none.
  int (*devices)(std::string* why_none);
};
std::span<const EngineType> engine_types();

/// "auto" is the first device that is present; other names are returned as they are. Throws
/// NoDevice for an unknown name.
std::string_view resolve_device(std::string_view device);

/// The engine for a device by name, or for "auto". Throws NoDevice.
std::unique_ptr<Engine> make_engine(std::string_view device, const EngineOptions& options = {});

/// Devices of this name for this process: GPUs, or 1 for "cpu". Throws NoDevice where there is
/// none.
int device_count(std::string_view device);

}  // namespace doetune::workloads
