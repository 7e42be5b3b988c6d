// Runs a network on a device. Nothing here names a device library: a CPU and a GPU engine look
// alike.
//
// A network carries what training needs too (which convolutions have a batch normalisation, what
// the head is); a network that learns is the second product of the same Engine.
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
#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads {

/// Of weights and activations; sums are fp32. tf32: fp32 numbers, multiplied on the GPU's tensor
/// cores with 10 bits of mantissa. An engine throws CannotRun for one that its device lacks.
enum class Precision { fp32, tf32, bf16, fp16 };
std::string_view name_of(Precision precision);
/// Throws std::invalid_argument for an unknown name.
Precision precision_named(std::string_view name);
/// Of one weight or activation in memory.
int bytes_of(Precision precision);

struct CompileOptions {
  int batch = 1;  // most images in one call
  Precision precision = Precision::fp32;
  int threads = 1;                     // CPU threads that one call may use
  float confidence_threshold = 0.15F;  // of detections
  float overlap_threshold = 0.45F;     // above which the lesser of two boxes is dropped
};

/// A network made ready for one device, with buffers of its own. Used by one thread at a time.
///
/// Work goes through in two steps, so that the next batch can be loaded while the device is busy:
/// load or fill input(), submit, and wait for the oldest batch submitted. At most lanes() batches
/// may be submitted and not yet waited for.
class CompiledNetwork {
 public:
  virtual ~CompiledNetwork() = default;

  /// Batches that can be under way at once: 1 where submit itself does the work.
  virtual int lanes() const = 0;

  /// Host buffer of batch x height x width x channels floats (RGB in 0..1) for the batch to be
  /// submitted next. The engine owns it so that it can lie where the device reads best.
  virtual std::span<float> input() = 0;

  /// Puts an image, scaled as Resizer does, into channels 3 frame .. 3 frame + 2 of an image of
  /// the batch to be submitted next, on the device where it has a faster way than input(). A batch
  /// is filled in one of the two ways.
  virtual void load(int image, const YcbcrView& pixels, int frame = 0) = 0;

  /// Begins to run the first `images` of the batch, 1 <= images <= batch. A number of images seen
  /// for the first time costs its preparation.
  virtual void submit(int images) = 0;

  /// Returns when the oldest batch submitted is done; output() and detections() are of it until
  /// the next wait.
  virtual void wait() = 0;

  void infer(int images) {
    submit(images);
    wait();
  }

  /// Host buffer of batch x height x width x channels floats of the network's last layer.
  virtual std::span<const float> output() = 0;

  /// Boxes of an image after non-maximum suppression, by detection.h and the thresholds of the
  /// options. Of a network with a DetectionHead.
  virtual std::vector<Detection> detections(int image) = 0;

  /// Memory of the device that this network holds, in bytes.
  virtual std::int64_t device_bytes() const = 0;
};

class TrainableNetwork;  // in training.h
class TrainableStage;
struct TrainingOptions;

class Engine {
 public:
  virtual ~Engine() = default;

  /// Weights as in weights.h. They must outlive what is compiled: an engine may read them again
  /// when a number of images is seen for the first time. Throws CannotRun.
  virtual std::unique_ptr<CompiledNetwork> compile(const Network& network,
                                                   std::span<const float> weights,
                                                   const CompileOptions& options) = 0;

  /// A classifier that learns on from this state, in the blocks of parameters.h; see training.h.
  /// Throws CannotRun.
  virtual std::unique_ptr<TrainableNetwork> train(const Network& network,
                                                  std::span<const float> parameters,
                                                  std::span<const float> statistics,
                                                  const TrainingOptions& options);

  /// The same for a stage of a classifier (networks/stages.h), with this many slots for
  /// micro-batches of at most options.batch images.
  virtual std::unique_ptr<TrainableStage> train_stage(const Network& stage,
                                                      std::span<const float> parameters,
                                                      std::span<const float> statistics,
                                                      const TrainingOptions& options, int slots);

  /// Library and device in words, for the notes of a run.
  virtual std::string description() const = 0;
};

/// The device cannot run these settings: too little memory, or a precision that it lacks.
struct CannotRun : Infeasible {
  using Infeasible::Infeasible;
};

/// There is no such device here, or no engine for it in this build; the message says why.
struct NoDevice : Infeasible {
  using Infeasible::Infeasible;
};

/// Which device, and how much of it.
struct EngineOptions {
  int gpu = 0;          // among those that this process sees
  double sm_share = 1;  // part of the multiprocessors (a green context where below 1)
};

/// The kinds of device, the preferred one first.
struct EngineType {
  std::string_view device;  // "cuda", "cpu"
  /// Throws NoDevice.
  std::unique_ptr<Engine> (*make)(const EngineOptions& options);
  /// How many there are for this process; `why_none` gets the reason where there is none.
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
