#include "workloads/engines/onednn/onednn_training_plan.h"

#include <algorithm>
#include <numeric>

#include "workloads/engines/onednn/cross_entropy.h"
#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_plan.h"

namespace doetune::workloads::onednn {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

namespace {

/// The entries of fused_sums that follow a batch normalisation.
std::vector<int> normalised_sums(const Network& network) {
  std::vector<int> sums = fused_sums(network);
  for (std::size_t layer = 0; layer < sums.size(); ++layer) {
    const auto* conv = std::get_if<Convolution>(&network.layers[layer].op);
    if (conv == nullptr || !conv->batch_norm) sums[layer] = -1;
  }
  return sums;
}

}  // namespace

TrainingPlan::TrainingPlan(const dnnl::engine& engine, const Network& network,
                           const TrainingOptions& options, int images,
                           const TrainingBuffers& buffers)
    : engine_(engine),
      network_(network),
      type_(options.precision == Precision::bf16 ? Type::bf16 : Type::f32),
      options_(options),
      images_(images),
      buffers_(buffers),
      parameters_(parameters_of(network)),
      fused_sums_(normalised_sums(network)),
      image_{{nchw(images, network.input), Type::f32, Tag::nhwc}, -1, buffers.input},
      contributions_(network.layers.size()) {
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer)
    std::visit([&](const auto& op) { add(op, layer); }, network.layers[layer].op);
  add_output();
  forward_steps_ = steps_.size();
  add_backward_pass();
  place_buffers();
}

void TrainingPlan::forward(dnnl::stream& stream) {
  for (std::size_t step = 0; step < forward_steps_; ++step) steps_[step](stream);
  stream.wait();
}

BatchScore TrainingPlan::backward(dnnl::stream& stream,
                                  const TrainableNetwork::GradientsReady& ready) {
  ready_ = &ready;
  for (std::size_t step = forward_steps_; step < steps_.size(); ++step) steps_[step](stream);
  stream.wait();
  return score_;
}

// -- memory ---------------------------------------------------------------------------------------

TrainingPlan::Tensor TrainingPlan::new_tensor(const memory::desc& desc, int copies) {
  arena_buffers_.push_back({copies * desc.get_size(), steps_.size(), steps_.size()});
  return {desc, static_cast<int>(arena_buffers_.size()) - 1};
}

memory TrainingPlan::memory_of(const Tensor& tensor) {
  if (tensor.buffer < 0)
    return {tensor.desc, engine_, reinterpret_cast<char*>(tensor.host) + tensor.offset};
  memory result(tensor.desc, engine_, DNNL_MEMORY_NONE);
  arena_buffers_[tensor.buffer].last_step = steps_.size();
  unbound_.push_back({result, tensor.buffer, tensor.offset});
  return result;
}

/// Places buffers by decreasing size, each at the lowest offset that is free during its lifetime.
void TrainingPlan::place_buffers() {
  constexpr std::size_t kAlign = 4096;
  std::vector<std::size_t> order(arena_buffers_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t buffer) { return arena_buffers_[buffer].bytes; });
  std::vector<const ArenaBuffer*> placed;  // by offset
  for (const std::size_t each : order) {
    ArenaBuffer& buffer = arena_buffers_[each];
    for (const ArenaBuffer* other : placed) {
      if (other->first_step > buffer.last_step || other->last_step < buffer.first_step) continue;
      if (other->offset >= buffer.offset + buffer.bytes) break;
      const std::size_t end = other->offset + (other->bytes + kAlign - 1) / kAlign * kAlign;
      buffer.offset = std::max(buffer.offset, end);
    }
    bytes_ = std::max(bytes_, buffer.offset + buffer.bytes);
    placed.insert(std::ranges::upper_bound(placed, buffer.offset, {}, &ArenaBuffer::offset),
                  &buffer);
  }
}

void TrainingPlan::bind(char* arena) {
  for (auto& [object, buffer, offset] : unbound_)
    object.set_data_handle(arena + arena_buffers_[buffer].offset + offset);
}

// -- steps ----------------------------------------------------------------------------------------

void TrainingPlan::add_primitive(const dnnl::primitive& primitive, const Arguments& arguments) {
  std::int64_t scratch = 0;
  dnnl_primitive_desc_query(primitive.get_primitive_desc(), dnnl_query_memory_consumption_s64, 0,
                            &scratch);
  scratch_bytes_ = std::max(scratch_bytes_, static_cast<std::size_t>(scratch));
  std::unordered_map<int, memory> memories;
  for (const auto& [argument, tensor] : arguments) memories[argument] = memory_of(tensor);
  steps_.push_back([primitive, memories = std::move(memories)](dnnl::stream& stream) {
    primitive.execute(stream, memories);
  });
}

void TrainingPlan::add_reorder(const Tensor& from, const Tensor& to) {
  constexpr std::size_t kWorthWaking = 256 << 10;  // bytes
  const OnThreads threads(to.desc.get_size() < kWorthWaking ? 1 : options_.threads);
  const dnnl::reorder::primitive_desc desc(engine_, from.desc, engine_, to.desc);
  add_primitive(dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

TrainingPlan::Tensor TrainingPlan::in_layout(const Tensor& tensor, const memory::desc& wanted) {
  if (tensor.desc == wanted) return tensor;
  const Tensor copy = new_tensor(wanted);
  add_reorder(tensor, copy);
  return copy;
}

TrainingPlan::Tensor TrainingPlan::typed(int layer) {
  if (layer != kNetworkInput) return tensors_[layer];
  return in_layout(image_, {nchw(images_, network_.input), type_, Tag::nhwc});
}

memory::desc TrainingPlan::any(const Shape& shape) const {
  return {nchw(images_, shape), type_, Tag::any};
}

void TrainingPlan::add_output() {
  const memory::desc desc(nchw(images_, network_.output()), Type::f32, Tag::nhwc);
  add_reorder(tensors_.back(), {desc, -1, buffers_.output});
}

void TrainingPlan::add_loss() {
  const memory::desc desc(nchw(images_, network_.output()), Type::f32, Tag::nhwc);
  const Tensor gradient = new_tensor(desc);
  const auto count = static_cast<std::size_t>(images_ * network_.output().elements());
  steps_.push_back([this, count, out = memory_of(gradient)](dnnl::stream&) {
    score_ = softmax_cross_entropy({buffers_.output, count},
                                   {buffers_.labels, static_cast<std::size_t>(images_)},
                                   {static_cast<float*>(out.get_data_handle()), count});
  });
  contribute(static_cast<int>(network_.layers.size()) - 1, gradient);
}

/// A stage that returns its input's gradient starts with a Route of the input (stages.h).
void TrainingPlan::add_backward_pass() {
  const int layers = static_cast<int>(network_.layers.size());
  const memory::desc desc(nchw(images_, network_.output()), Type::f32, Tag::nhwc);
  if (buffers_.output_gradient == nullptr)
    add_loss();
  else
    contribute(layers - 1, {desc, -1, buffers_.output_gradient});
  const bool gives_input_gradient = buffers_.input_gradient != nullptr;
  for (int layer = layers - 1; layer >= (gives_input_gradient ? 1 : 0); --layer)
    add_backward_[layer]();
  if (gives_input_gradient) add_reorder(gradient_of(0), {image_.desc, -1, buffers_.input_gradient});
}

void TrainingPlan::contribute(int layer, const Tensor& gradient) {
  if (layer != kNetworkInput) contributions_[layer].push_back(gradient);
}

TrainingPlan::Tensor TrainingPlan::gradient_of(int layer) {
  const std::vector<Tensor>& parts = contributions_[layer];
  const memory::desc& wanted = tensors_[layer].desc;
  if (parts.size() == 1) return in_layout(parts[0], wanted);
  std::vector<memory::desc> descs;
  Arguments arguments;
  for (const Tensor& part : parts) {
    arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size())] = part;
    descs.push_back(part.desc);
  }
  const dnnl::sum::primitive_desc desc(wanted, std::vector<float>(parts.size(), 1.0F), descs,
                                       engine_);
  const Tensor sum = new_tensor(wanted);
  arguments[DNNL_ARG_DST] = sum;
  add_primitive(dnnl::sum(desc), arguments);
  return sum;
}

// -- plans ----------------------------------------------------------------------------------------

TrainingPlan& TrainingPlans::of(int images) {
  use_threads(options_.threads);
  auto& plan = plans_[images];
  if (plan != nullptr) return *plan;
  auto made = std::make_unique<TrainingPlan>(engine_, network_, options_, images, buffers_);
  if (made->bytes() > arena_bytes_) {
    const std::int64_t first_written =  // by the first step: input, gradients, momentum
        network_.input.elements() * options_.batch + 2 * parameters(network_);
    require_memory(static_cast<std::int64_t>(made->bytes() + made->scratch_bytes() +
                                             sizeof(float) * first_written));
    arena_ = std::make_unique<Buffer>(made->bytes());
    arena_bytes_ = made->bytes();
    for (const auto& [size, other] : plans_)
      if (other != nullptr) other->bind(arena_->at(0));
  }
  made->bind(arena_->at(0));
  plan = std::move(made);
  return *plan;
}

}  // namespace doetune::workloads::onednn
