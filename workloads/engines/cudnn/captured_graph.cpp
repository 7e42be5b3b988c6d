#include "workloads/engines/cudnn/captured_graph.h"

#include "workloads/engines/cudnn/device.h"

namespace doetune::workloads::cudnn {

CapturedGraph::CapturedGraph(cudaStream_t stream, const std::function<void()>& work) {
  struct Recording {
    cudaGraph_t graph = nullptr;
    ~Recording() {
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
  } recorded;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream, &recorded.graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream, &recorded.graph), "recording a graph");
  cudaGraphExec_t graph = nullptr;
  check(cudaGraphInstantiate(&graph, recorded.graph, 0), "making a graph");
  graph_.reset(graph);
  check(cudaGraphUpload(graph, stream), "uploading a graph");
}

void CapturedGraph::launch(cudaStream_t stream) const {
  check(cudaGraphLaunch(graph_.get(), stream), "starting a graph");
}

}  // namespace doetune::workloads::cudnn
