// A CUDA graph captured from a stream: one launch in place of hundreds.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <type_traits>

namespace doetune::workloads::cudnn {

class CapturedGraph {
 public:
  CapturedGraph() = default;
  /// Records the work that `work` puts on the stream. The kernels must have run before, since they
  /// must not be loaded during capture; the memory that they use must stay where it is.
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
