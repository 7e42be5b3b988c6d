// Runs a network on a device. Nothing here names a device library: a CPU and a GPU engine look
// alike.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "workloads/network.h"

namespace doetune::workloads {

enum class Precision { fp32, bf16 };  // of weights and activations; sums are fp32

struct CompileOptions {
  int batch = 1;  // most images in one call
  Precision precision = Precision::fp32;
  int threads = 1;  // CPU threads that one call may use
};

/// A network made ready for one device, with buffers of its own. Used by one thread at a time.
class CompiledNetwork {
 public:
  virtual ~CompiledNetwork() = default;

  /// Host buffer of batch x height x width x channels floats (RGB in 0..1), to be filled before
  /// infer. The engine owns it so that it can lie where the device reads best.
  virtual std::span<float> input() = 0;

  /// Runs the first `images` of the input buffer, 1 <= images <= batch, and returns when the output
  /// buffer holds their results. A number of images seen for the first time costs its preparation.
  virtual void infer(int images) = 0;

  /// Host buffer of batch x height x width x channels floats of the network's last layer.
  virtual std::span<const float> output() const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// Weights as in weights.h; they are converted to the device's own layout here, once.
  /// Throws CannotRun.
  virtual std::unique_ptr<CompiledNetwork> compile(const Network& network,
                                                   std::span<const float> weights,
                                                   const CompileOptions& options) = 0;

  /// Library and instruction set in words, for the notes of a run.
  virtual std::string description() const = 0;
};

/// The device cannot run these settings: too little memory, or a precision that it lacks. A fact
/// about them, not a failure to retry.
struct CannotRun : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The engines of this build, the preferred one first. `make` returns null where its device is
/// absent.
struct EngineType {
  std::string_view device;  // "cpu", ...
  std::unique_ptr<Engine> (*make)();
};
std::span<const EngineType> engine_types();

/// The engine for a device by name, or for "auto" the first whose device is present.
/// Throws std::runtime_error if there is none.
std::unique_ptr<Engine> make_engine(std::string_view device);

}  // namespace doetune::workloads
