#include "workloads/engines/cudnn/training_pass.h"

namespace doetune::workloads::cudnn {
namespace {

constexpr std::int64_t kPoints = 8;  // maximum size of TrainingPass::points

}  // namespace

void TrainingPass::add(const Convolution& conv, int layer) {
  const TrainingConvolutions passes = training_convolutions(layers_.network, layers_.plan, layer,
                                                            layers_.options.precision, images_);
  if (conv.batch_norm)
    add_normalised(conv, layer, passes);
  else
    add_biased(conv, layer, passes);
}

TrainingPass::PlannedConvolution TrainingPass::planned(const ConvolutionCase& problem) {
  auto chosen = chooser_->choose(problem);
  const std::int64_t bytes = chosen->plan.workspace_bytes();
  return {std::move(chosen), bytes > 0 ? new_buffer(bytes) : kNowhere};
}

void TrainingPass::run(const PlannedConvolution& planned, const Run& run,
                       Plan::Pointers pointers) const {
  pointers.workspace = data(run, planned.workspace);
  planned.chosen->plan.run(run.handle, pointers);
}

/// Bytes of scratch memory for the sums of batch normalisation or bias over a tensor.
std::int64_t TrainingPass::scratch_bytes(const Tensor& tensor) const {
  const View sizes{nullptr, tensor.channels, tensor.height, tensor.width, tensor.pitch};
  return static_cast<std::int64_t>(sizeof(float)) *
         (partial_sums({layers_.options.precision, images_, nullptr}, sizes) + 2 * tensor.channels);
}

Dropout TrainingPass::dropout_of(const Run& run, const Convolution& conv, int layer) const {
  return {layers_.options.seed, run.buffers.step, layers_.options.first_layer + layer,
          layers_.options.first_image, run.learning ? conv.dropout : 0.0F};
}

TrainingPass::Tensor TrainingPass::input_of(const Convolution& conv, int layer) {
  const int input = layers_.network.layers[layer].inputs[0];
  const Tensor whole = result(input);
  if (conv.dropout <= 0) return whole;
  const Shape& shape = layers_.network.shape_of(input);
  const Tensor left = new_tensor(shape, whole.channels);
  step({whole.buffer, left.buffer}, [=, this](const Run& each) {
    drop(launch(each), dropout_of(each, conv, layer), shape, view(each, whole), Write::set,
         view(each, left));
  });
  return left;
}

// -- with batch normalisation ---------------------------------------------------------------------

NormLayer TrainingPass::norm_layer(const Run& run, int layer, int channels_buffer) const {
  const ParameterBlocks& parameters = run.parameters;
  return {std::get<Convolution>(layers_.network.layers[layer].op).filters,
          parameters.parameters(layers_.layout.bias_or_scale(layer)),
          parameters.parameters(layers_.layout.shift(layer)),
          parameters.on_gpu(ParameterBlocks::Block::statistics) +
              layers_.layout.position(layer).statistics,
          static_cast<Normalisation*>(data(run, channels_buffer))};
}

void TrainingPass::add_normalised(const Convolution& conv, int layer,
                                  const TrainingConvolutions& passes) {
  const Tensor input = input_of(conv, layer);
  const TrainedTensor weights = layers_.layout.weights(layer);
  const PlannedConvolution plan = planned(passes.forward);
  const Tensor product =
      new_tensor(layers_.network.layers[layer].output, passes.forward.output.channels);
  step({input.buffer, product.buffer, plan.workspace}, [=, this](const Run& each) {
    run(plan, each,
        {view(each, input).data, each.parameters.packed(weights), nullptr, nullptr,
         view(each, product).data, nullptr});
  });

  const int sum = layers_.plan.fused[layer];
  const Tensor added = sum < 0 ? Tensor{} : result(other_input(layers_.network, sum, layer));
  const Activation forward =
      sum < 0 ? conv.activation : std::get<Sum>(layers_.network.layers[sum].op).activation;
  const Tensor to = result(layer);
  const int channels =
      new_buffer(static_cast<std::int64_t>(sizeof(Normalisation)) * product.channels);
  const int scratch = new_buffer(scratch_bytes(product));
  step({product.buffer, added.buffer, to.buffer, channels, scratch}, [=, this](const Run& each) {
    const NormLayer norm = norm_layer(each, layer, channels);
    if (each.learning)
      take_statistics(launch(each), norm, each.statistics_momentum, view(each, product),
                      static_cast<float*>(data(each, scratch)));
    else
      use_running_statistics(launch(each), norm, product.channels);
    normalise(launch(each), norm.channels, forward, view(each, product), view(each, added),
              view(each, to));
  });

  add_backward_.push_back([=, this] {
    if (!has_gradient(layer)) return;
    const Tensor back = gradient(layer);
    const Tensor product_back = new_tensor(layers_.network.layers[layer].output, product.channels);
    const int sums = new_buffer(scratch_bytes(product));
    // The fused sum has handled its own activation already.
    const Activation activation = sum < 0 ? conv.activation : Activation::linear;
    step({back.buffer, product.buffer, product_back.buffer, channels, sums},
         [=, this](const Run& each) {
           normalise_back(launch(each), norm_layer(each, layer, channels), activation,
                          view(each, back), view(each, product),
                          each.parameters.gradients(layers_.layout.bias_or_scale(layer)),
                          each.parameters.gradients(layers_.layout.shift(layer)),
                          static_cast<float*>(data(each, sums)), view(each, product_back));
         });
    add_gradients(conv, layer, passes, input, product_back);
  });
}

// -- with a bias ----------------------------------------------------------------------------------

void TrainingPass::add_biased(const Convolution& conv, int layer,
                              const TrainingConvolutions& passes) {
  const Tensor input = input_of(conv, layer);
  const TrainedTensor weights = layers_.layout.weights(layer);
  const TrainedTensor bias = layers_.layout.bias_or_scale(layer);
  const int sum = layers_.plan.fused[layer];
  const Tensor added = sum < 0 ? Tensor{} : result(other_input(layers_.network, sum, layer));
  const Tensor out = result(layer);
  const PlannedConvolution plan = planned(passes.forward);
  const bool more = plan.chosen->fusion == Fusion::bias && has_more_than_bias(passes.forward);
  step({input.buffer, added.buffer, out.buffer, plan.workspace}, [=, this](const Run& each) {
    const View to = view(each, out);
    const View other = view(each, added);
    run(plan, each,
        {view(each, input).data, each.parameters.packed(weights), each.parameters.packed(bias),
         other.data, to.data, nullptr});
    if (more) add_and_activate(launch(each), passes.forward.activation, to, other, to);
  });

  add_backward_.push_back([=, this] {
    if (!has_gradient(layer)) return;
    const Tensor back = gradient(layer);
    const Activation activation = sum < 0 ? conv.activation : Activation::linear;
    const bool as_it_is = activation == Activation::linear && back.dense();
    const Tensor copy =
        as_it_is ? Tensor{} : new_tensor(layers_.network.layers[layer].output, back.channels);
    const Tensor result_read = activation == Activation::linear ? Tensor{} : out;
    const int sums = new_buffer(scratch_bytes(back));
    step({back.buffer, result_read.buffer, copy.buffer, sums}, [=, this](const Run& each) {
      bias_back(launch(each), activation, conv.filters, view(each, back), view(each, result_read),
                each.parameters.gradients(bias), static_cast<float*>(data(each, sums)),
                view(each, copy));
    });
    add_gradients(conv, layer, passes, input, as_it_is ? back : copy);
  });
}

// -- gradients ------------------------------------------------------------------------------------

void TrainingPass::add_gradients(const Convolution& conv, int layer,
                                 const TrainingConvolutions& passes, const Tensor& input,
                                 const Tensor& product_gradient) {
  const TrainedTensor weights = layers_.layout.weights(layer);
  const PlannedConvolution plan = planned(passes.backward_filter);
  step({input.buffer, product_gradient.buffer, plan.workspace}, [=, this](const Run& each) {
    run(plan, each,
        {view(each, input).data, each.parameters.packed_gradient(weights), nullptr, nullptr,
         view(each, product_gradient).data, nullptr});
  });
  finished(weights.offset);
  if (layers_.network.layers[layer].inputs[0] != kNetworkInput)
    add_input_gradient(conv, layer, passes.backward_data, product_gradient);
}

void TrainingPass::add_input_gradient(const Convolution& conv, int layer,
                                      const ConvolutionCase& problem,
                                      const Tensor& product_gradient) {
  const int input = layers_.network.layers[layer].inputs[0];
  const TrainedTensor weights = layers_.layout.weights(layer);
  const Target goal = target(input);
  const PlannedConvolution plan = planned(problem);
  const Shape& shape = layers_.network.shape_of(input);
  const bool directly = goal.write == Write::set && conv.dropout <= 0;
  const Tensor to = directly ? goal.tensor : new_tensor(shape, goal.tensor.channels);
  step({product_gradient.buffer, to.buffer, plan.workspace}, [=, this](const Run& each) {
    run(plan, each,
        {view(each, to).data, each.parameters.packed(weights), nullptr, nullptr,
         view(each, product_gradient).data, nullptr});
  });
  if (directly) return;
  step({to.buffer, goal.tensor.buffer}, [=, this](const Run& each) {
    if (conv.dropout > 0)
      drop(launch(each), dropout_of(each, conv, layer), shape, view(each, to), goal.write,
           view(each, goal.tensor));
    else
      pass_back(launch(each), Activation::linear, view(each, to), {}, Write::add,
                view(each, goal.tensor));
  });
}

void TrainingPass::finished(std::int64_t offset) {
  const std::int64_t count = layers_.layout.count();
  const std::int64_t before = points_.empty() ? count : points_.back().offset;
  if (before - offset >= (count + kPoints - 1) / kPoints || offset == 0)
    points_.push_back({steps_.size(), offset});
}

}  // namespace doetune::workloads::cudnn
