// Training on the GPU: the forward and backward pass of a step are one CUDA graph, the update is
// one kernel.
//
// Convolutions and their gradients are cuDNN's, in the precision of the options; parameters,
// momentum, statistics, sums and the loss are fp32. bf16 has the range of fp32, so no loss scaling
// is needed; fp16, which would need it, is refused. If a callback for ready gradients is given, the
// step is captured as about eight graphs with an event after each, all launched before the first
// wait.
//
// input() is uploaded by the first step after the call; further steps train on the same images,
// which are already on the GPU. Blocks are copied to the host on request, so a span holds the
// values of the last request (gradients: those reported ready). With gradients_on_device, the
// gradients with respect to weights are channels last (filters x height x width x inputs), at the
// weights' offset in the block.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "workloads/engines/cudnn/cudnn_network.h"
#include "workloads/engines/cudnn/training_pass.h"
#include "workloads/engines/training.h"

namespace doetune::workloads::cudnn {

class CudnnTrainable final : public TrainableNetwork {
 public:
  /// As Engine::train.
  CudnnTrainable(const Gpu& gpu, const Network& network, std::span<const float> parameters,
                 std::span<const float> statistics, const TrainingOptions& options);
  ~CudnnTrainable() override;

  std::span<float> input() override;
  std::span<std::int32_t> labels() override { return host_labels_.as<std::int32_t>(); }
  BatchScore gradients(int images, const GradientsReady& ready) override;
  void update(float learning_rate) override;
  BatchScore evaluate(int images) override;
  std::span<const float> logits() override;
  std::span<float> parameters() override { return block(ParameterBlocks::Block::parameters); }
  std::span<float> gradients_block() override;
  std::span<float> momentum_block() override { return block(ParameterBlocks::Block::momentum); }
  std::span<float> statistics() override { return block(ParameterBlocks::Block::statistics); }
  void changed() override;

 private:
  /// For one number of images; graphs are captured when first needed.
  struct Prepared {
    std::unique_ptr<TrainingPass> pass;
    void* arena = nullptr;
    bool learned_before = false;
    CapturedGraph whole;
    std::vector<CapturedGraph> parts;  // one up to each point
    CapturedGraph evaluation;
  };

  void enter() const;  // makes the GPU current for the calling thread
  std::span<float> block(ParameterBlocks::Block which);
  void check_labels(int images);
  Prepared& prepared(int images);
  std::span<float> host_input();
  void upload(int images);
  TrainingPass::Run run_of(const Prepared& prepared) const;
  void learn_whole(const TrainingPass::Run& run, const TrainingPass& pass) const;
  void learn_part(const TrainingPass::Run& run, const TrainingPass& pass, std::size_t part);
  void run_whole(Prepared& prepared);
  void run_parts(Prepared& prepared, const GradientsReady& ready);
  BatchScore score(int images) const;

  Gpu gpu_;
  Network network_;
  TrainingOptions options_;
  TensorPlan plan_;
  Stream compute_;
  Handle handle_;
  ParameterBlocks parameters_;
  PlanCache cache_;
  PlanChooser chooser_;
  PinnedBuffer pinned_input_;  // one of the two, by TrainingOptions::input_memory
  std::vector<float> pageable_input_;
  PinnedBuffer host_labels_, host_logits_, host_losses_, host_correct_, host_step_;
  DeviceBuffer staging_, image_, labels_, logits_, step_;
  int uploaded_ = 0;  // input images already on the GPU
  bool logits_copied_ = false;
  Arenas arenas_{"activations and gradients"};
  std::map<int, Prepared> prepared_;
  std::vector<std::unique_ptr<Event>> events_;  // of the parts of a step
};

}  // namespace doetune::workloads::cudnn
