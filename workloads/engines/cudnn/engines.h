// cuDNN's engines for an operation graph: their enumeration, and execution plans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "workloads/engines/cudnn/backend.h"
#include "workloads/engines/cudnn/convolution.h"

namespace doetune::workloads::cudnn {

/// What plans are made for: a GPU by its handle, or an absent one by its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;  // finalised CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
};

/// A device-properties descriptor from the JSON that cuDNN exports.
Descriptor device_properties(std::string_view json);

/// An engine and the values of its knobs: the part of a choice that is cached.
struct EngineConfiguration {
  std::int64_t engine = 0;
  std::map<std::int64_t, std::int64_t> knobs;  // by cudnnBackendKnobType_t
  bool operator==(const EngineConfiguration&) const = default;
};

/// A configuration proposed by the heuristics.
struct Candidate {
  EngineConfiguration configuration;
  bool compiled_at_run_time = false;  // takes half a second to compile
};

/// The configurations that cuDNN's heuristics propose, in cuDNN's order of preference, without
/// those whose arithmetic is not what the precision promises: accumulation in less than fp32, fp32
/// inputs truncated to tf32, transforms that lose precision, nondeterministic results. Empty where
/// cuDNN has no engine for the graph. For an absent GPU it gives precompiled engines only (9.19; it
/// counts others, for graphs that cannot be too), so that none there may be some on the GPU.
std::vector<Candidate> candidates(const ConvolutionCase& problem, const Target& target);

/// An executable plan.
class Plan {
 public:
  /// Throws Error where the engine refuses.
  Plan(const ConvolutionCase& problem, const EngineConfiguration& configuration,
       const Target& target);

  std::int64_t workspace_bytes() const { return workspace_bytes_; }

  struct Pointers {
    void* input;
    void* weights;
    void* bias;  // these two are null where the case has none
    void* residual;
    void* output;
    void* workspace;
  };
  /// Submits the work to the handle's stream.
  void run(cudnnHandle_t handle, const Pointers& pointers) const;

 private:
  ConvolutionCase problem_;
  ConvolutionGraph graph_;
  Descriptor engine_;
  Descriptor configuration_;
  Descriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace doetune::workloads::cudnn
