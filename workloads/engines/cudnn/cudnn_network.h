// A compiled network on the GPU: its buffers, streams and graphs. Used by cudnn_engine.cpp alone.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "workloads/engines/cudnn/captured_graph.h"
#include "workloads/engines/cudnn/device_memory.h"
#include "workloads/engines/cudnn/forward_pass.h"
#include "workloads/engines/cudnn/image_loader.h"

namespace doetune::workloads::cudnn {

/// The GPU of an engine.
struct Gpu {
  int index = 0;
  std::string name;
  std::shared_ptr<const Multiprocessors> multiprocessors;
};

/// Owns a cuDNN handle bound to one stream.
class Handle {
 public:
  explicit Handle(cudaStream_t stream);
  ~Handle() { cudnnDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cudnnHandle_t() const { return handle_; }

 private:
  cudnnHandle_t handle_ = nullptr;
};

class CudnnNetwork final : public CompiledNetwork {
 public:
  CudnnNetwork(const Gpu& gpu, const Network& network, std::span<const float> weights,
               const CompileOptions& options);
  ~CudnnNetwork() override;

  int lanes() const override { return kLanes; }
  std::span<float> input() override;
  void load(int image, const DecodedImage& picture, int frame) override;
  void submit(int images) override;
  void wait() override;
  std::span<const float> output() override;
  std::vector<Detection> detections(int image) override;
  std::int64_t device_bytes() const override;

 private:
  static constexpr int kLanes = 2;
  // Two batches in flight, and a third whose results are being read or whose input is being filled.
  static constexpr int kSlots = kLanes + 1;

  struct Slot {
    DeviceBuffer image;
    PinnedBuffer host_input;  // allocated by the first input()
    DeviceBuffer staging;     // its copy on the device
    DeviceBuffer output;
    PinnedBuffer host_output;
    DeviceBuffer boxes;
    DeviceBuffer box_counts;
    PinnedBuffer host_boxes;
    PinnedBuffer host_box_counts;
    Event uploaded, computed, done;
    int images = 0;            // in the batch last submitted
    bool host_filled = false;  // host_input has yet to be uploaded
    bool output_copied = false;
  };
  struct Prepared {
    std::unique_ptr<ForwardPass> pass;
    std::array<CapturedGraph, kSlots> graphs;
  };

  void enter() const;  // makes the GPU current for the calling thread
  /// The head that finds boxes in the output; null for another head, and for a network that is cut
  /// off before the head's layer.
  const DetectionHead* boxes() const;
  BoxGrid grid() const;
  void make_slot(Slot& slot);
  View image_view(const Slot& slot) const;
  Prepared& prepared(int images);
  void run_pass(const ForwardPass& pass, const Slot& slot, void* arena);
  void upload(Slot& slot, int images);
  void download(Slot& slot);
  void copy_output(Slot& slot, cudaStream_t stream);

  Gpu gpu_;
  Network network_;
  CompileOptions options_;
  TensorPlan plan_;
  Stream uploads_, compute_, downloads_;
  Handle handle_;
  PackedWeights weights_;
  DeviceBuffer anchors_;
  PlanCache cache_;
  PlanChooser chooser_;
  ImageLoader images_;
  std::array<Slot, kSlots> slots_;
  Arenas arenas_{"activations"};
  std::map<int, Prepared> prepared_;
  int next_ = 0;              // slot of the next submission
  int under_way_ = 0;         // batches submitted and not yet waited for
  int current_ = kSlots - 1;  // slot of the current results
};

}  // namespace doetune::workloads::cudnn
