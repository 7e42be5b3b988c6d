#include "workloads/engine_onednn.h"

#include <omp.h>
#include <sys/mman.h>
#include <xmmintrin.h>

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "workloads/weights.h"

namespace doetune::workloads {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

/// Turns oneDNN's errors into the engine's: no memory is a fact about the settings.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw OutOfMemory(std::string("oneDNN: ") + error.what());
    throw std::runtime_error(std::string("oneDNN: ") + error.what());
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("not enough memory for the network at this batch size");
  }
}

/// Page-aligned memory in large pages where the system has them: weights and activations are read in
/// long strides.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
    data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  ~Buffer() { munmap(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }
  float* floats() const { return static_cast<float*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* data_;
};

memory::dims nchw(int images, const Shape& shape) { return {images, shape.channels, shape.height, shape.width}; }

/// A convolution's weights in the layout that a primitive asked for.
struct PackedWeights {
  memory weights;
  memory bias;
  std::shared_ptr<Buffer> storage;
};

/// Packs each layer's weights once for each layout that is asked for; batch sizes share layouts.
class WeightStore {
 public:
  WeightStore(const dnnl::engine& engine, const Network& network, std::span<const float> block)
      : engine_(engine), network_(network), block_(block) {}

  const PackedWeights& packed(int layer, const memory::desc& wanted, const memory::dims& dims) {
    auto& kept = kept_[layer];
    for (const PackedWeights& each : kept)
      if (each.weights.get_desc() == wanted) return each;
    const ConvolutionWeights plain = convolution_weights(network_, block_, layer);
    PackedWeights packed;
    packed.storage = std::make_shared<Buffer>(wanted.get_size());
    packed.weights = memory(wanted, engine_, packed.storage->at(0));
    packed.bias = memory({{dims[0]}, Type::f32, Tag::x}, engine_, const_cast<float*>(plain.bias.data()));
    memory source({dims, Type::f32, Tag::oihw}, engine_, const_cast<float*>(plain.weights.data()));
    dnnl::stream stream(engine_);
    dnnl::reorder(source, packed.weights).execute(stream, source, packed.weights);
    stream.wait();
    kept.push_back(std::move(packed));
    return kept.back();
  }

 private:
  dnnl::engine engine_;
  const Network& network_;
  std::span<const float> block_;
  std::map<int, std::vector<PackedWeights>> kept_;
};

/// The primitives for one number of images, in order, with the memory between them. Tensors that are
/// not alive at the same time share memory.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights, Precision precision, int images)
      : engine_(engine),
        network_(network),
        weights_(weights),
        type_(precision == Precision::bf16 ? Type::bf16 : Type::f32),
        images_(images) {}

  void build(float* input, float* output) {
    find_last_uses();
    values_.resize(network_.layers.size());
    const memory::desc host_input{nchw(images_, network_.input), Type::f32, Tag::nhwc};
    image_ = {host_input, kHostInput};
    for (int layer = 0; layer < static_cast<int>(network_.layers.size()); ++layer) {
      std::visit([&](const auto& op) { add(op, layer); }, network_.layers[layer].op);
      release_after(layer);
    }
    const memory::desc host_output{nchw(images_, network_.output()), Type::f32, Tag::nhwc};
    add_reorder(values_.back(), {host_output, kHostOutput});
    bind(input, output);
  }

  void run(dnnl::stream& stream) {
    for (const Step& step : steps_) step(stream);
    stream.wait();
  }

 private:
  static constexpr int kHostInput = -1;
  static constexpr int kHostOutput = -2;

  struct Value {
    memory::desc desc;
    int slot = 0;
  };
  using Step = std::function<void(dnnl::stream&)>;
  using Arguments = std::unordered_map<int, memory>;

  // -- which tensor lies where --------------------------------------------------------------------

  int root(int layer) const {  // a route with one input is its input
    while (layer >= 0 && std::holds_alternative<Route>(network_.layers[layer].op) &&
           network_.layers[layer].inputs.size() == 1)
      layer = network_.layers[layer].inputs[0];
    return layer;
  }

  void find_last_uses() {
    last_use_.assign(network_.layers.size(), 0);
    for (int layer = 0; layer < static_cast<int>(network_.layers.size()); ++layer)
      for (const int input : network_.layers[layer].inputs)
        if (root(input) >= 0) last_use_[root(input)] = layer;
    last_use_[root(static_cast<int>(network_.layers.size()) - 1)] = static_cast<int>(network_.layers.size());
  }

  Value new_value(const memory::desc& desc) {
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot)
      if (slots_[slot].free) return take(slot, desc);
    slots_.push_back({});
    return take(static_cast<int>(slots_.size()) - 1, desc);
  }

  Value take(int slot, const memory::desc& desc) {
    slots_[slot].free = false;
    slots_[slot].bytes = std::max(slots_[slot].bytes, desc.get_size());
    return {desc, slot};
  }

  void release(const Value& value) {
    if (value.slot >= 0) slots_[value.slot].free = true;
  }

  void release_after(int layer) {
    for (int earlier = 0; earlier < layer; ++earlier)
      if (last_use_[earlier] == layer && root(earlier) == earlier) release(values_[earlier]);
  }

  const Value& value_of(int layer) const { return layer == kNetworkInput ? image_ : values_[layer]; }

  /// The tensor in the wanted layout and type: itself, or a copy that `release_copy` gives back.
  Value in_layout(const Value& value, const memory::desc& wanted) {
    if (value.desc == wanted) return value;
    const Value copy = new_value(wanted);
    add_reorder(value, copy);
    return copy;
  }

  void release_copy(const Value& used, const Value& original) {
    if (used.slot != original.slot) release(used);
  }

  // -- steps --------------------------------------------------------------------------------------

  /// Memory objects get their addresses in bind(), once the size of every slot is known.
  memory memory_of(const Value& value) {
    memory result(value.desc, engine_, DNNL_MEMORY_NONE);
    unbound_.push_back({result, value.slot});
    return result;
  }

  void add_primitive(dnnl::primitive primitive, Arguments arguments) {
    steps_.push_back([primitive = std::move(primitive), arguments = std::move(arguments)](dnnl::stream& stream) {
      primitive.execute(stream, arguments);
    });
  }

  void add_reorder(const Value& from, const Value& to) {
    const dnnl::reorder::primitive_desc desc(engine_, from.desc, engine_, to.desc);
    add_primitive(dnnl::reorder(desc), {{DNNL_ARG_FROM, memory_of(from)}, {DNNL_ARG_TO, memory_of(to)}});
  }

  memory::desc any(const Shape& shape) const { return {nchw(images_, shape), type_, Tag::any}; }

  void add(const Convolution& conv, int layer) {
    const Layer& node = network_.layers[layer];
    const Shape& in_shape = network_.shape_of(node.inputs[0]);
    const memory::dims weight_dims{conv.filters, in_shape.channels, conv.kernel, conv.kernel};
    const memory::dim pad = conv.kernel / 2;
    const memory::dim pad_end_y = (node.output.height - 1) * conv.stride + conv.kernel - in_shape.height - pad;
    const memory::dim pad_end_x = (node.output.width - 1) * conv.stride + conv.kernel - in_shape.width - pad;
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, any(in_shape),
        {weight_dims, type_, Tag::any}, {{conv.filters}, Type::f32, Tag::x}, any(node.output),
        {conv.stride, conv.stride}, {pad, pad}, {pad_end_y, pad_end_x});
    dnnl::primitive_attr attributes;
    if (conv.activation == Activation::leaky) {
      dnnl::post_ops activation;
      activation.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, kLeakySlope, 0.0F);
      attributes.set_post_ops(activation);
    }
    const dnnl::convolution_forward::primitive_desc chosen(desc, attributes, engine_);
    const PackedWeights& packed = weights_.packed(layer, chosen.weights_desc(), weight_dims);
    const Value& original = value_of(node.inputs[0]);
    const Value source = in_layout(original, chosen.src_desc());
    values_[layer] = new_value(chosen.dst_desc());
    add_primitive(dnnl::convolution_forward(chosen), {{DNNL_ARG_SRC, memory_of(source)},
                                                      {DNNL_ARG_WEIGHTS, packed.weights},
                                                      {DNNL_ARG_BIAS, packed.bias},
                                                      {DNNL_ARG_DST, memory_of(values_[layer])}});
    release_copy(source, original);
  }

  void add(const MaxPool& pool, int layer) {
    const Layer& node = network_.layers[layer];
    const Shape& in_shape = network_.shape_of(node.inputs[0]);
    const memory::dim pad_y = (node.output.height - 1) * pool.stride + pool.kernel - in_shape.height;
    const memory::dim pad_x = (node.output.width - 1) * pool.stride + pool.kernel - in_shape.width;
    const Value& source = value_of(node.inputs[0]);
    const dnnl::pooling_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max,
                                           source.desc, any(node.output), {pool.stride, pool.stride},
                                           {pool.kernel, pool.kernel}, {0, 0}, {pad_y, pad_x});
    const dnnl::pooling_forward::primitive_desc chosen(desc, engine_);
    values_[layer] = new_value(chosen.dst_desc());
    add_primitive(dnnl::pooling_forward(chosen),
                  {{DNNL_ARG_SRC, memory_of(source)}, {DNNL_ARG_DST, memory_of(values_[layer])}});
  }

  void add(const Reorg& reorg, int layer) {
    const Layer& node = network_.layers[layer];
    const Shape& in_shape = network_.shape_of(node.inputs[0]);
    const Value& original = value_of(node.inputs[0]);
    const Value source = in_layout(original, {nchw(images_, in_shape), type_, Tag::nchw});
    values_[layer] = new_value({nchw(images_, node.output), type_, Tag::nchw});
    std::vector<std::int64_t> from(in_shape.elements());
    for (std::int64_t i = 0; i < in_shape.elements(); ++i) from[i] = reorg_source(in_shape, reorg.stride, i);
    const memory in = memory_of(source);
    const memory out = memory_of(values_[layer]);
    steps_.push_back([this, in, out, from = std::move(from)](dnnl::stream& stream) {
      stream.wait();
      if (type_ == Type::bf16)
        permute<std::uint16_t>(in.get_data_handle(), out.get_data_handle(), from);
      else
        permute<float>(in.get_data_handle(), out.get_data_handle(), from);
    });
    release_copy(source, original);
  }

  template <class T>
  void permute(const void* in, void* out, const std::vector<std::int64_t>& from) const {
    for (int image = 0; image < images_; ++image) {
      const T* source = static_cast<const T*>(in) + image * from.size();
      T* target = static_cast<T*>(out) + image * from.size();
      for (std::size_t i = 0; i < from.size(); ++i) target[i] = source[from[i]];
    }
  }

  void add(const Route&, int layer) {
    const Layer& node = network_.layers[layer];
    if (node.inputs.size() == 1) {
      values_[layer] = value_of(node.inputs[0]);
      return;
    }
    // oneDNN joins fastest where all inputs have one layout: that of the last one.
    std::vector<memory::desc> descs;
    Arguments arguments;
    std::vector<std::pair<Value, Value>> used;
    const memory::desc& like = value_of(node.inputs.back()).desc;
    for (const int input : node.inputs) {
      descs.push_back(value_of(input).desc);
      arguments[DNNL_ARG_MULTIPLE_SRC + static_cast<int>(descs.size()) - 1] = memory_of(value_of(input));
    }
    static_cast<void>(like);
    const dnnl::concat::primitive_desc chosen(1, descs, engine_);
    values_[layer] = new_value(chosen.dst_desc());
    arguments[DNNL_ARG_DST] = memory_of(values_[layer]);
    add_primitive(dnnl::concat(chosen), std::move(arguments));
  }

  void bind(float* input, float* output) {
    constexpr std::size_t kAlign = 4096;
    std::vector<std::size_t> offsets;
    std::size_t total = 0;
    for (const Slot& slot : slots_) {
      offsets.push_back(total);
      total += (slot.bytes + kAlign - 1) / kAlign * kAlign;
    }
    arena_ = std::make_unique<Buffer>(total);
    for (auto& [object, slot] : unbound_)
      object.set_data_handle(slot == kHostInput    ? static_cast<void*>(input)
                             : slot == kHostOutput ? static_cast<void*>(output)
                                                   : arena_->at(offsets[slot]));
    unbound_.clear();
  }

  struct Slot {
    std::size_t bytes = 0;
    bool free = true;
  };

  dnnl::engine engine_;
  const Network& network_;
  WeightStore& weights_;
  Type type_;
  int images_;
  Value image_;
  std::vector<Value> values_;
  std::vector<int> last_use_;
  std::vector<Slot> slots_;
  std::vector<std::pair<memory, int>> unbound_;
  std::vector<Step> steps_;
  std::unique_ptr<Buffer> arena_;
};

class OnednnNetwork final : public CompiledNetwork {
 public:
  OnednnNetwork(const dnnl::engine& engine, const Network& network, std::span<const float> weights,
                const CompileOptions& options)
      : engine_(engine),
        stream_(engine),
        network_(network),
        options_(options),
        weights_(engine, network_, weights),
        input_(network.input.elements() * options.batch * sizeof(float)),
        output_(network.output().elements() * options.batch * sizeof(float)) {
    plan_for(options.batch);
  }

  std::span<float> input() override {
    return {input_.floats(), static_cast<std::size_t>(network_.input.elements() * options_.batch)};
  }

  std::span<const float> output() const override {
    return {output_.floats(), static_cast<std::size_t>(network_.output().elements() * options_.batch)};
  }

  void infer(int images) override {
    if (images < 1 || images > options_.batch) throw std::invalid_argument("infer: images outside 1..batch");
    translated([&] { plan_for(images).run(stream_); });
  }

 private:
  Plan& plan_for(int images) {
    omp_set_num_threads(options_.threads);
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush denormals to zero; OpenMP's threads inherit it
    auto& plan = plans_[images];
    if (plan == nullptr) {
      auto made = std::make_unique<Plan>(engine_, network_, weights_, options_.precision, images);
      made->build(input_.floats(), output_.floats());
      plan = std::move(made);
    }
    return *plan;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  Network network_;
  CompileOptions options_;
  WeightStore weights_;
  Buffer input_;
  Buffer output_;
  std::map<int, std::unique_ptr<Plan>> plans_;
};

class OnednnEngine final : public Engine {
 public:
  std::unique_ptr<CompiledNetwork> compile(const Network& network, std::span<const float> weights,
                                           const CompileOptions& options) override {
    return translated([&]() -> std::unique_ptr<CompiledNetwork> {
      return std::make_unique<OnednnNetwork>(engine_, network, weights, options);
    });
  }

  std::string description() const override {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};

}  // namespace

std::unique_ptr<Engine> make_onednn_engine() { return std::make_unique<OnednnEngine>(); }

}  // namespace doetune::workloads
