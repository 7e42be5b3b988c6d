// Work of a stream, recorded once and started as a whole: one launch in the place of hundreds.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <type_traits>

namespace doetune::workloads::cudnn {

class CapturedGraph {
 public:
  CapturedGraph() = default;
  /// Records what `work` puts on the stream. The kernels must have run before, for a recording must
  /// not load them; what they point to must stay where it is.
  CapturedGraph(cudaStream_t stream, const std::function<void()>& work);

  explicit operator bool() const { return graph_ != nullptr; }
  void launch(cudaStream_t stream) const;

 private:
  struct Destroy {
    void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Destroy> graph_;
};

}  // namespace doetune::workloads::cudnn
