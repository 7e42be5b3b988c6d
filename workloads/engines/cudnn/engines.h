// cuDNN's engines for an operation graph: which there are, and plans made of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "workloads/engines/cudnn/backend.h"
#include "workloads/engines/cudnn/convolution.h"

namespace doetune::workloads::cudnn {

/// What plans are made for: a GPU by its handle, or one that is not here by its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;  // finalised CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
};

/// The descriptor of a GPU's properties from the JSON that cuDNN writes of one.
Descriptor device_properties(std::string_view json);

/// An engine with the values of its knobs: what is worth keeping of a choice.
struct EngineConfiguration {
  std::int64_t engine = 0;
  std::map<std::int64_t, std::int64_t> knobs;  // by cudnnBackendKnobType_t
  bool operator==(const EngineConfiguration&) const = default;
};

/// One that heuristics propose.
struct Candidate {
  EngineConfiguration configuration;
  bool compiled_at_run_time = false;  // takes half a second to make
};

/// The configurations that cuDNN's heuristics propose, its favourites first, without those whose
/// numbers would not be what the precision promises: sums in less than fp32, fp32 inputs cut to
/// tf32, transforms that lose digits, results that differ from run to run. Empty where cuDNN has no
/// engine for the graph.
std::vector<Candidate> candidates(const ConvolutionCase& problem, const Target& target);

/// Something that can be executed.
class Plan {
 public:
  /// Throws Error where the engine refuses.
  Plan(const ConvolutionCase& problem, const EngineConfiguration& configuration,
       const Target& target);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }

  struct Pointers {
    void* input;
    void* weights;
    void* bias;  // these two null where the case has none
    void* residual;
    void* output;
    void* workspace;
  };
  /// Puts the work on the stream of the handle.
  void run(cudnnHandle_t handle, const Pointers& pointers) const;

 private:
  ConvolutionGraph graph_;
  Descriptor engine_;
  Descriptor configuration_;
  Descriptor plan_;
  std::int64_t workspace_bytes_ = 0;
  bool has_bias_;
  bool has_residual_;
};

}  // namespace doetune::workloads::cudnn
