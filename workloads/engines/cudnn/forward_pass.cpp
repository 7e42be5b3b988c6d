#include "workloads/engines/cudnn/forward_pass.h"

#include <algorithm>

#include "workloads/engines/cudnn/device_memory.h"

namespace doetune::workloads::cudnn {

ForwardPass::ForwardPass(const CompiledLayers& layers, int images, PlanChooser& chooser)
    : layers_(layers),
      images_(images),
      chosen_(layers.network.layers.size()),
      workspace_use_(layers.network.layers.size(), -1) {
  for (std::size_t layer = 0; layer < chosen_.size(); ++layer)
    if (std::holds_alternative<Convolution>(layers.network.layers[layer].op))
      chosen_[layer] = chooser.choose(convolution_case(
          layers.network, layers.plan, static_cast<int>(layer), layers.precision, images));
  plan_arena();
}

void ForwardPass::plan_arena() {
  std::vector<MemoryUse> uses;
  for (const PlannedTensor& tensor : layers_.plan.tensors)
    uses.push_back({tensor.shape.elements() * images_ * bytes_of(layers_.precision), tensor.first,
                    tensor.last});
  for (int layer = 0; layer < static_cast<int>(chosen_.size()); ++layer)
    if (chosen_[layer] != nullptr && chosen_[layer]->plan.workspace_bytes() > 0) {
      workspace_use_[layer] = static_cast<int>(uses.size());
      uses.push_back({chosen_[layer]->plan.workspace_bytes(), layer, layer});
    }
  memory_ = plan_memory(uses, kPartAlignment);
}

View ForwardPass::view(const Run& run, int layer) const {
  const ChannelView& channels = layers_.plan.view_of(layer);
  const Shape& shape = layers_.network.shape_of(layer);
  std::byte* tensor = channels.tensor == kNetworkInput ? static_cast<std::byte*>(run.buffers.image)
                                                       : address(run, channels.tensor);
  return {tensor + std::int64_t{channels.first_channel} * bytes_of(layers_.precision),
          channels.channels, shape.height, shape.width, channels.pitch};
}

void ForwardPass::run(const Buffers& buffers, cudnnHandle_t handle, cudaStream_t stream) const {
  const Run run{buffers, handle, {layers_.precision, images_, stream}};
  const Network& network = layers_.network;
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer)
    std::visit([&](const auto& op) { apply(op, run, layer); }, network.layers[layer].op);
  read_output(run.launch, view(run, static_cast<int>(network.layers.size()) - 1),
              network.output().channels, buffers.output);
}

void ForwardPass::apply(const Convolution& conv, const Run& run, int layer) const {
  const Network& network = layers_.network;
  const ChosenPlan& chosen = *chosen_[layer];
  const int sum = layers_.plan.fused[layer];
  const View residual = sum < 0 ? View{} : view(run, other_input(network, sum, layer));
  const Activation activation =
      sum < 0 ? conv.activation : std::get<Sum>(network.layers[sum].op).activation;
  const View out = output(run, layer);
  const int workspace = workspace_use_[layer];
  chosen.plan.run(run.handle, {input(run, layer).data, layers_.weights.weights(layer),
                               layers_.weights.bias(layer), residual.data, out.data,
                               workspace < 0 ? nullptr : address(run, workspace)});
  const bool more = sum >= 0 || activation != Activation::linear;
  if (chosen.fusion == Fusion::bias && more)
    add_and_activate(run.launch, activation, out, residual, out);
}

void ForwardPass::apply(const MaxPool& pool, const Run& run, int layer) const {
  max_pool(run.launch, pool, input(run, layer), output(run, layer));
}

void ForwardPass::apply(const AveragePool& pool, const Run& run, int layer) const {
  average_pool(run.launch, pool, input(run, layer), output(run, layer));
}

void ForwardPass::apply(const LocalResponseNorm& norm, const Run& run, int layer) const {
  local_response_norm(run.launch, norm, input(run, layer), output(run, layer));
}

void ForwardPass::apply(const Sum& sum, const Run& run, int layer) const {
  const bool added_before =
      std::ranges::find(layers_.plan.fused, layer) != layers_.plan.fused.end();
  if (added_before) return;
  const auto& inputs = layers_.network.layers[layer].inputs;
  add_and_activate(run.launch, sum.activation, view(run, inputs[0]), view(run, inputs[1]),
                   output(run, layer));
}

void ForwardPass::apply(const Upsample& op, const Run& run, int layer) const {
  upsample(run.launch, op, input(run, layer), output(run, layer));
}

void ForwardPass::apply(const ChannelArgMax&, const Run& run, int layer) const {
  const int from = layers_.network.layers[layer].inputs[0];
  channel_arg_max(run.launch, layers_.network.shape_of(from).channels, input(run, layer),
                  output(run, layer));
}

void ForwardPass::apply(const Reorg& op, const Run& run, int layer) const {
  const int from = layers_.network.layers[layer].inputs[0];
  reorg(run.launch, op, layers_.network.shape_of(from), input(run, layer), output(run, layer));
}

void ForwardPass::apply(const Route&, const Run& run, int layer) const {
  const auto& inputs = layers_.network.layers[layer].inputs;
  if (inputs.size() == 1 && inputs[0] != kNetworkInput) return;
  View to = output(run, layer);
  int left = to.channels;  // padding included
  int at = 0;
  for (const int input : inputs) {
    const int channels = layers_.network.shape_of(input).channels;
    to.channels = &input == &inputs.back() ? left : channels;
    if (!layers_.plan.in_place(layer, input, at))
      copy_channels(run.launch, channels, view(run, input), to);
    to.data =
        static_cast<std::byte*>(to.data) + std::int64_t{channels} * bytes_of(layers_.precision);
    left -= channels;
    at += channels;
  }
}

}  // namespace doetune::workloads::cudnn
