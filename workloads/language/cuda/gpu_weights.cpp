#include "workloads/language/cuda/gpu_weights.h"

#include <algorithm>
#include <stdexcept>

#include "workloads/language/cuda/gpu_kernels.h"

namespace doetune::workloads::language {

GpuWeights::GpuWeights(const DecoderShape& shape, std::uint64_t seed, Precision precision,
                       cudaStream_t stream)
    : tensors_(tensors_of(shape)),
      layers_(shape.layers),
      number_bytes_(bytes_of(precision)),
      memory_((tensors_.back().offset + tensors_.back().count()) * number_bytes_, "the weights") {
  for (const Tensor& tensor : tensors_)
    draw(stream, precision, draw_of(tensor, seed), tensor.count(),
         memory_.at(tensor.offset * number_bytes_));
  cudnn::check(cudaStreamSynchronize(stream), "drawing the weights");
}

const Tensor* GpuWeights::find(TensorKind kind, int layer) const {
  const auto found = std::ranges::find_if(
      tensors_, [&](const Tensor& each) { return each.kind == kind && each.layer == layer; });
  return found == tensors_.end() ? nullptr : &*found;
}

const void* GpuWeights::at(std::int64_t offset) const { return memory_.at(offset * number_bytes_); }

const void* GpuWeights::tensor(TensorKind kind, int layer) const {
  const Tensor* found = find(kind, layer);
  if (found == nullptr) throw std::logic_error("the model has no such tensor");
  return at(found->offset);
}

LayerMatrices GpuWeights::matrices(TensorKind first, TensorKind last) const {
  LayerMatrices made;
  for (int layer = 0; layer < layers_; ++layer) made.layers.push_back(tensor(first, layer));
  for (const Tensor& each : tensors_) {
    if (each.layer != 0 || each.kind < first || each.kind > last) continue;
    made.rows += each.rows;
    made.columns = each.columns;
  }
  return made;
}

LayerMatrices GpuWeights::logits() const {
  const Tensor* own = find(TensorKind::logits, 0);
  const Tensor* used = own != nullptr ? own : find(TensorKind::embedding, 0);
  return {used->rows, used->columns, {at(used->offset)}};
}

}  // namespace doetune::workloads::language
