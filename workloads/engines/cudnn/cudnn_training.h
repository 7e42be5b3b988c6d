// Training on the GPU: the forward and backward pass of a step are one CUDA graph, the update is
// one kernel.
//
// Convolutions and their gradients are cuDNN's, in the precision of the options; parameters,
// momentum, statistics, sums and the loss are fp32. bf16 has the range of fp32, so no loss scaling
// is needed; fp16, which would need it, is refused. If a callback for ready gradients is given, the
// step is captured as about eight graphs with an event after each, all launched before the first
// wait.
//
// Batches have two slots: one is filled and uploaded, by a stream of its own, while the pass over
// the other is computed. input() is that of the current slot and is uploaded by the first pass
// after the call; further passes use the same images, which are already on the GPU. Blocks are
// copied to the host on request, so a span holds the values of the last request (gradients: those
// reported ready). With gradients_on_device, the gradients with respect to weights are channels
// last (filters x height x width x inputs), at the weights' offset in the block.
#pragma once

#include <array>
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
  std::span<std::int32_t> labels() override { return slot().labels.as<std::int32_t>(); }
  void load(std::span<const float> images, std::span<const std::int32_t> labels) override;
  void start(Pass pass, int images) override;
  BatchScore finish() override;
  BatchScore gradients(int images, const GradientsReady& ready) override;
  void update(float learning_rate) override;
  BatchScore evaluate(int images) override {
    start(Pass::evaluation, images);
    return finish();
  }
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

  /// The host's memory of a batch, and its images on the GPU.
  struct Slot {
    PinnedBuffer pinned;  // one of the two, by TrainingOptions::input_memory
    std::vector<float> pageable;
    PinnedBuffer labels;
    DeviceBuffer staging;
    Event uploaded;
    int on_gpu = 0;  // images

    std::span<float> images() { return pageable.empty() ? pinned.as<float>() : pageable; }
  };

  void enter() const;  // makes the GPU current for the calling thread
  std::span<float> block(ParameterBlocks::Block which);
  void check_labels(int images);
  Prepared& prepared(int images);
  Slot& slot() { return slots_[current_]; }
  void make(Slot& slot) const;
  void upload(Slot& slot, int images) const;
  Prepared& begin(int images);
  void prepare_gradients(Prepared& prepared);
  TrainingPass::Run run_of(const Prepared& prepared) const;
  void learn_whole(const TrainingPass::Run& run, const TrainingPass& pass) const;
  void learn_part(const TrainingPass::Run& run, const TrainingPass& pass, std::size_t part);
  void run_whole(Prepared& prepared);
  void run_parts(Prepared& prepared, const GradientsReady& ready);
  void run_evaluation(Prepared& prepared);
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
  Stream uploads_;
  std::array<Slot, 2> slots_;
  std::size_t current_ = 0;
  bool loaded_ = false;  // the other slot has the next batch
  PinnedBuffer host_logits_, host_losses_, host_correct_, host_step_;
  DeviceBuffer image_, labels_, logits_, step_;
  int converted_ = 0;  // images of the current slot that are in image_
  int under_way_ = 0;  // images of the pass that was started
  bool logits_copied_ = false;
  Arenas arenas_{"activations and gradients"};
  std::map<int, Prepared> prepared_;
  std::vector<std::unique_ptr<Event>> events_;  // of the parts of a step
};

}  // namespace doetune::workloads::cudnn
