#include "workloads/engines/cudnn/training_pass.h"

#include <algorithm>

#include "workloads/engines/cudnn/device_memory.h"

namespace doetune::workloads::cudnn {

TrainingPass::TrainingPass(const TrainedLayers& layers, int images, PlanChooser& chooser)
    : layers_(layers),
      images_(images),
      chooser_(&chooser),
      result_buffers_(layers.plan.tensors.size(), kNowhere),
      gradient_buffers_(layers.plan.tensors.size(), kNowhere) {
  const auto count = static_cast<int>(layers_.network.layers.size());
  for (int layer = 0; layer < count; ++layer)
    std::visit([&](const auto& op) { add(op, layer); }, layers_.network.layers[layer].op);
  add_loss();
  forward_end_ = steps_.size();
  for (auto add = add_backward_.rbegin(); add != add_backward_.rend(); ++add) (*add)();
  if (points_.empty() || points_.back().offset > 0) points_.push_back({0, 0});
  points_.back().end = steps_.size();
  memory_ = plan_memory(buffers_, kPartAlignment);
  chooser_ = nullptr;
}

void TrainingPass::evaluate(Run run) const {
  run.learning = false;
  learn(run, 0, forward_end_);
}

void TrainingPass::learn(const Run& run, std::size_t first, std::size_t end) const {
  for (std::size_t i = first; i < end; ++i) steps_[i](run);
}

// -- memory and steps -----------------------------------------------------------------------------

int TrainingPass::new_buffer(std::int64_t bytes) {
  const auto next = static_cast<int>(steps_.size());
  buffers_.push_back({bytes, next, next});
  return static_cast<int>(buffers_.size()) - 1;
}

TrainingPass::Tensor TrainingPass::new_tensor(const Shape& shape, int channels) {
  const std::int64_t pixels = std::int64_t{images_} * shape.height * shape.width;
  return {new_buffer(pixels * channels * bytes_of_number()),
          0,
          channels,
          shape.height,
          shape.width,
          channels};
}

TrainingPass::Tensor TrainingPass::part_of(const ChannelView& view, const Shape& shape,
                                           int buffer) const {
  return {buffer,        std::int64_t{view.first_channel} * bytes_of_number(),
          view.channels, shape.height,
          shape.width,   view.pitch};
}

/// Appends a step and extends the lifetimes of these buffers to it.
void TrainingPass::step(std::initializer_list<int> buffers, std::function<void(const Run&)> work) {
  for (const int buffer : buffers)
    if (buffer >= 0) buffers_[buffer].last = static_cast<int>(steps_.size());
  steps_.push_back(std::move(work));
}

TrainingPass::Tensor TrainingPass::result(int layer) {
  const ChannelView& view = layers_.plan.view_of(layer);
  const Shape& shape = layers_.network.shape_of(layer);
  if (view.tensor == kNetworkInput) return part_of(view, shape, kImage);
  int& buffer = result_buffers_[view.tensor];
  if (buffer == kNowhere)
    buffer = new_buffer(layers_.plan.tensors[view.tensor].shape.elements() * images_ *
                        bytes_of_number());
  return part_of(view, shape, buffer);
}

bool TrainingPass::has_gradient(int layer) const {
  return gradient_buffers_[layers_.plan.views[layer].tensor] != kNowhere;
}

TrainingPass::Tensor TrainingPass::gradient(int layer) const {
  const ChannelView& view = layers_.plan.views[layer];
  return part_of(view, layers_.network.shape_of(layer), gradient_buffers_[view.tensor]);
}

/// A tensor that its first reader covers only in part is cleared first.
TrainingPass::Target TrainingPass::target(int layer) {
  const ChannelView& view = layers_.plan.views[layer];
  int& buffer = gradient_buffers_[view.tensor];
  if (buffer != kNowhere) return {gradient(layer), Write::add};
  const std::int64_t bytes =
      layers_.plan.tensors[view.tensor].shape.elements() * images_ * bytes_of_number();
  buffer = new_buffer(bytes);
  const Tensor whole = gradient(layer);
  if (whole.dense()) return {whole, Write::set};
  step({buffer}, [=, this](const Run& run) {
    check(cudaMemsetAsync(data(run, whole.buffer), 0, static_cast<std::size_t>(bytes), run.stream),
          "clearing a gradient");
  });
  return {whole, Write::add};
}

/// Whether the gradient with respect to a sum is also the memory of the one with respect to this
/// input, which saves a copy of the widest tensors. The convolution that adds the sum reads it too,
/// so nothing may be added to it before.
bool TrainingPass::shares_gradient(int sum, int input) const {
  const TensorPlan& plan = layers_.plan;
  const auto whole = [&](int layer) {
    const ChannelView& view = plan.views[layer];
    return plan.tensors[view.tensor].shape.channels == view.channels;
  };
  const int own = plan.views[input].tensor;
  const auto fused = std::ranges::find(plan.fused, sum);
  if (fused == plan.fused.end() || !whole(sum) || !whole(input) ||
      gradient_buffers_[own] != kNowhere)
    return false;
  const auto convolution = static_cast<int>(fused - plan.fused.begin());
  const auto& layers = layers_.network.layers;
  if (input > convolution && !std::holds_alternative<Convolution>(layers[input].op)) return false;
  const auto reads = [&](const Layer& layer) {
    return std::ranges::any_of(layer.inputs, [&](int from) {
      return from != kNetworkInput && plan.views[from].tensor == own;
    });
  };
  return std::none_of(layers.begin() + convolution + 1, layers.begin() + sum, reads);
}

void* TrainingPass::data(const Run& run, int buffer) const {
  if (buffer == kNowhere) return nullptr;
  if (buffer == kImage) return run.buffers.image;
  return static_cast<std::byte*>(run.buffers.arena) + memory_.offsets[buffer];
}

View TrainingPass::view(const Run& run, const Tensor& tensor) const {
  if (tensor.buffer == kNowhere) return {};
  return {static_cast<std::byte*>(data(run, tensor.buffer)) + tensor.offset, tensor.channels,
          tensor.height, tensor.width, tensor.pitch};
}

void TrainingPass::add_loss() {
  const int last = static_cast<int>(layers_.network.layers.size()) - 1;
  const int classes = layers_.network.output().channels;
  const Tensor logits = result(last);
  const Tensor back = target(last).tensor;
  step({logits.buffer, back.buffer}, [=, this](const Run& run) {
    read_output(launch(run), view(run, logits), classes, run.buffers.logits);
    softmax_cross_entropy(launch(run), classes, view(run, logits), run.buffers.labels,
                          run.buffers.losses, run.buffers.correct,
                          run.learning ? view(run, back) : View{});
  });
}

// -- other layers ---------------------------------------------------------------------------------

void TrainingPass::add(const MaxPool& pool, int layer) {
  if (pool.kernel > kMaxKeptWindow)
    throw CannotRun("the GPU engine cannot train maximum pooling over more than 15 x 15");
  const int input = layers_.network.layers[layer].inputs[0];
  const Tensor from = result(input);
  const Tensor to = result(layer);
  const int positions =
      new_buffer(std::int64_t{images_} * to.height * to.width * to.channels);  // one byte each
  step({from.buffer, to.buffer, positions}, [=, this](const Run& run) {
    max_pool_keeping(launch(run), pool, view(run, from), view(run, to),
                     static_cast<std::uint8_t*>(data(run, positions)));
  });
  add_backward_.push_back([=, this] {
    if (!has_gradient(layer) || input == kNetworkInput) return;
    const Tensor back = gradient(layer);
    const Target goal = target(input);
    step({back.buffer, positions, goal.tensor.buffer}, [=, this](const Run& run) {
      max_pool_back(launch(run), pool, view(run, back),
                    static_cast<const std::uint8_t*>(data(run, positions)), goal.write,
                    view(run, goal.tensor));
    });
  });
}

void TrainingPass::add(const AveragePool& pool, int layer) {
  const int input = layers_.network.layers[layer].inputs[0];
  const Tensor from = result(input);
  const Tensor to = result(layer);
  step({from.buffer, to.buffer}, [=, this](const Run& run) {
    average_pool(launch(run), pool, view(run, from), view(run, to));
  });
  add_backward_.push_back([=, this] {
    if (!has_gradient(layer) || input == kNetworkInput) return;
    const Tensor back = gradient(layer);
    const Target goal = target(input);
    step({back.buffer, goal.tensor.buffer}, [=, this](const Run& run) {
      average_pool_back(launch(run), pool, view(run, back), goal.write, view(run, goal.tensor));
    });
  });
}

void TrainingPass::add(const LocalResponseNorm& norm, int layer) {
  const int input = layers_.network.layers[layer].inputs[0];
  const Tensor from = result(input);
  const Tensor to = result(layer);
  step({from.buffer, to.buffer}, [=, this](const Run& run) {
    local_response_norm(launch(run), norm, view(run, from), view(run, to));
  });
  add_backward_.push_back([=, this] {
    if (!has_gradient(layer) || input == kNetworkInput) return;
    const Tensor back = gradient(layer);
    const Target goal = target(input);
    step({from.buffer, back.buffer, goal.tensor.buffer}, [=, this](const Run& run) {
      local_response_norm_back(launch(run), norm, view(run, from), view(run, back), goal.write,
                               view(run, goal.tensor));
    });
  });
}

void TrainingPass::add(const Sum& sum, int layer) {
  const auto& inputs = layers_.network.layers[layer].inputs;
  const auto& fused = layers_.plan.fused;
  const Tensor to = result(layer);
  if (std::ranges::find(fused, layer) == fused.end()) {
    const Tensor left = result(inputs[0]);
    const Tensor right = result(inputs[1]);
    step({left.buffer, right.buffer, to.buffer}, [=, this](const Run& run) {
      add_and_activate(launch(run), sum.activation, view(run, left), view(run, right),
                       view(run, to));
    });
  }
  add_backward_.push_back([=, this] {
    if (!has_gradient(layer)) return;
    const Tensor back = gradient(layer);
    if (sum.activation != Activation::linear)
      step({back.buffer, to.buffer}, [=, this](const Run& run) {
        pass_back(launch(run), sum.activation, view(run, back), view(run, to), Write::set,
                  view(run, back));
      });
    for (const int input : layers_.network.layers[layer].inputs) {
      // For a convolution that adds the sum itself, the gradient is already in their common tensor.
      if (input == kNetworkInput || layers_.plan.fused[input] == layer) continue;
      if (shares_gradient(layer, input)) {
        gradient_buffers_[layers_.plan.views[input].tensor] = back.buffer;
        continue;
      }
      const Target goal = target(input);
      step({back.buffer, goal.tensor.buffer}, [=, this](const Run& run) {
        pass_back(launch(run), Activation::linear, view(run, back), {}, goal.write,
                  view(run, goal.tensor));
      });
    }
  });
}

void TrainingPass::add(const Route&, int layer) {
  const auto& inputs = layers_.network.layers[layer].inputs;
  add_backward_.emplace_back([] {});
  if (inputs.size() == 1 && inputs[0] != kNetworkInput) return;
  struct Copy {
    int input, first, channels;
  };
  std::vector<Copy> copies;
  const Tensor joined = result(layer);
  int at = 0;
  for (const int input : inputs) {
    const int channels = layers_.network.shape_of(input).channels;
    if (!layers_.plan.in_place(layer, input, at)) copies.push_back({input, at, channels});
    at += channels;
  }
  const auto part = [bytes = bytes_of_number()](Tensor tensor, int first, int channels) {
    tensor.offset += first * bytes;
    tensor.channels = channels;
    return tensor;
  };
  for (const Copy& copy : copies) {
    const Tensor from = result(copy.input);
    const bool last = copy.first + copy.channels == at;
    const Tensor to = part(joined, copy.first, last ? joined.channels - copy.first : copy.channels);
    step({from.buffer, to.buffer}, [=, this](const Run& run) {
      copy_channels(launch(run), copy.channels, view(run, from), view(run, to));
    });
  }
  add_backward_.back() = [=, this] {
    if (!has_gradient(layer)) return;
    for (const Copy& copy : copies) {
      if (copy.input == kNetworkInput) continue;
      const Tensor back = part(gradient(layer), copy.first, copy.channels);
      const Target goal = target(copy.input);
      step({back.buffer, goal.tensor.buffer}, [=, this](const Run& run) {
        pass_channels_back(launch(run), copy.channels, view(run, back), goal.write,
                           view(run, goal.tensor));
      });
    }
  };
}

}  // namespace doetune::workloads::cudnn
