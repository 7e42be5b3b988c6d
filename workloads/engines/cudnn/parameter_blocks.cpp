#include "workloads/engines/cudnn/parameter_blocks.h"

#include <algorithm>

#include "workloads/engines/cudnn/device_memory.h"

namespace doetune::workloads::cudnn {
namespace {

DeviceBuffer zeros(std::int64_t bytes, const char* purpose, cudaStream_t stream) {
  DeviceBuffer buffer(bytes, purpose);
  check(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(bytes), stream),
        "clearing memory");
  return buffer;
}

template <class T>
DeviceBuffer uploaded(const std::vector<T>& values, cudaStream_t stream) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(T));
  DeviceBuffer buffer(bytes, "tables of trained parameters");
  copy_async(values.data(), buffer.data(), bytes, stream);
  return buffer;
}

}  // namespace

// -- layout ---------------------------------------------------------------------------------------

ParameterLayout::ParameterLayout(const Network& network, const TensorPlan& plan,
                                 Precision precision)
    : positions_(network.layers.size()) {
  const auto reserve = [&](std::int64_t elements) {
    const std::int64_t at = packed_elements_;
    const std::int64_t multiple = kPartAlignment / bytes_of(precision);
    packed_elements_ += (elements + multiple - 1) / multiple * multiple;
    return at;
  };
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    const auto& conv = std::get<Convolution>(network.layers[tensor.layer].op);
    const int filters = plan.views[tensor.layer].channels;
    TrainedTensor parameters{
        tensor.offset, tensor.count, -1, static_cast<int>(tensor.count), filters, 1, false};
    if (tensor.kind == ParameterKind::weights) {
      const int input = network.layers[tensor.layer].inputs[0];
      parameters.weights = true;
      parameters.inputs = network.shape_of(input).channels;
      parameters.padded_inputs = plan.view_of(input).channels;
      parameters.window = conv.kernel.height * conv.kernel.width;
      parameters.packed =
          reserve(std::int64_t{filters} * parameters.window * parameters.padded_inputs);
      positions_[tensor.layer] = {static_cast<int>(tensors_.size()), statistics_};
      if (conv.batch_norm) statistics_ += 2 * conv.filters;
    } else if (tensor.kind == ParameterKind::bias) {
      parameters.packed = reserve(filters);
    }
    for (std::int64_t first = 0; first < tensor.count; first += kChunkElements)
      chunks_.push_back({static_cast<int>(tensors_.size()), first});
    tensors_.push_back(parameters);
    count_ = tensor.offset + tensor.count;
  }
}

std::int64_t ParameterLayout::first_chunk(std::int64_t offset) const {
  const auto found = std::ranges::lower_bound(
      chunks_, offset, {}, [&](const Chunk& chunk) { return tensors_[chunk.tensor].offset; });
  return found - chunks_.begin();
}

// -- blocks ---------------------------------------------------------------------------------------

ParameterBlocks::ParameterBlocks(ParameterLayout layout, Precision precision, cudaStream_t stream,
                                 std::span<const float> parameters,
                                 std::span<const float> statistics)
    : layout_(std::move(layout)), bytes_(bytes_of(precision)), launch_{precision, 0, stream} {
  constexpr auto kFloat = static_cast<std::int64_t>(sizeof(float));
  for (const Block block : {Block::parameters, Block::gradients, Block::momentum})
    part(block).gpu = zeros(layout_.count() * kFloat, "parameters, gradients and momentum", stream);
  part(Block::statistics).gpu = zeros(layout_.statistics() * kFloat, "running statistics", stream);
  packed_ = zeros(layout_.packed_elements() * bytes_, "weights", stream);
  packed_gradients_ = zeros(layout_.packed_elements() * bytes_, "weight gradients", stream);
  tensors_ = uploaded(layout_.tensors(), stream);
  chunks_ = uploaded(layout_.chunks(), stream);
  give(Block::parameters, parameters);
  give(Block::statistics, statistics);
  upload();
}

void ParameterBlocks::give(Block block, std::span<const float> values) {
  std::ranges::copy(values, host_memory(block));
  set_current(block, true);
}

float* ParameterBlocks::host_memory(Block block) {
  Part& its = part(block);
  if (its.host.data() == nullptr) its.host = PinnedBuffer(its.gpu.bytes());
  return its.host.as<float>().data();
}

std::span<float> ParameterBlocks::on_host(Block block) {
  host_memory(block);
  Part& its = part(block);
  if (!its.current) {
    move(block, Transfer::to_host);
    check(cudaStreamSynchronize(launch_.stream), "waiting for the GPU");
    its.current = true;
  }
  return its.host.as<float>();
}

void ParameterBlocks::upload() {
  bool any = false;
  for (const Block block :
       {Block::parameters, Block::gradients, Block::momentum, Block::statistics}) {
    if (!part(block).current) continue;
    any = true;
    move(block, Transfer::to_gpu);
    if (block == Block::parameters)
      pack(launch_, all_chunks(), on_gpu(Block::parameters), packed_.data());
  }
  // The caller may overwrite the host memory at once.
  if (any) check(cudaStreamSynchronize(launch_.stream), "waiting for the GPU");
}

void ParameterBlocks::move(Block block, Transfer direction) {
  if (block != Block::statistics)
    return transfer(launch_, all_chunks(), direction, on_gpu(block), host_memory(block));
  const bool to_host = direction == Transfer::to_host;
  check(cudaMemcpyAsync(to_host ? host_memory(block) : on_gpu(block),
                        to_host ? on_gpu(block) : host_memory(block),
                        static_cast<std::size_t>(part(block).gpu.bytes()), cudaMemcpyDefault,
                        launch_.stream),
        "copying running statistics");
}

ParameterChunks ParameterBlocks::chunks(std::int64_t from, std::int64_t to) const {
  const std::int64_t first = layout_.first_chunk(from);
  return {static_cast<const TrainedTensor*>(tensors_.data()),
          static_cast<const Chunk*>(chunks_.data()) + first, layout_.first_chunk(to) - first};
}

void ParameterBlocks::unpack(std::int64_t from, std::int64_t to) const {
  unpack_weights(launch_, chunks(from, to), packed_gradients_.data(), on_gpu(Block::gradients));
}

void ParameterBlocks::fetch_gradients(std::int64_t from, std::int64_t to) {
  transfer(launch_, chunks(from, to), Transfer::to_host, on_gpu(Block::gradients),
           host_memory(Block::gradients));
}

void ParameterBlocks::sgd_step(const Sgd& sgd) {
  cudnn::sgd_step(launch_, all_chunks(), sgd, on_gpu(Block::gradients), on_gpu(Block::momentum),
                  on_gpu(Block::parameters), packed_.data());
}

}  // namespace doetune::workloads::cudnn
