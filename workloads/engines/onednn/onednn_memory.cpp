#include "workloads/engines/onednn/onednn_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "workloads/engines/engine.h"
#include "workloads/engines/onednn/winograd_convolution.h"
#include "workloads/memory.h"
#include "workloads/networks/weights.h"

namespace doetune::workloads::onednn {

using dnnl::memory;

void require_memory(std::int64_t bytes) try {
  workloads::require_memory(bytes, "the network");
} catch (const Infeasible& error) {
  throw CannotRun(error.what());
}

Buffer::Buffer(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, 1)) {
  require_memory(static_cast<std::int64_t>(bytes_));
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED)
    throw CannotRun(fmt::format("not enough memory: the system does not provide {} bytes", bytes_));
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

Buffer::~Buffer() { munmap(data_, bytes_); }

template <class Fill>
PackedWeights WeightStore::kept_or(int layer, const memory::desc& wanted, memory::dim filters,
                                   Fill fill) {
  auto& kept = kept_[layer];
  for (const PackedWeights& each : kept)
    if (each.weights.get_desc() == wanted) return each;
  const ConvolutionWeights plain = convolution_weights(network_, block_, layer);
  PackedWeights packed;
  packed.storage = std::make_shared<Buffer>(wanted.get_size());
  packed.weights = memory(wanted, engine_, packed.storage->at(0));
  packed.bias = memory({{filters}, memory::data_type::f32, memory::format_tag::x}, engine_,
                       const_cast<float*>(plain.bias.data()));
  fill(plain.weights.data(), packed);
  kept.push_back(packed);
  return packed;
}

PackedWeights WeightStore::packed(int layer, const memory::desc& wanted, const memory::dims& dims) {
  return kept_or(layer, wanted, dims[0], [&](const float* plain, PackedWeights& packed) {
    memory source({dims, memory::data_type::f32, memory::format_tag::oihw}, engine_,
                  const_cast<float*>(plain));
    dnnl::stream stream(engine_);
    dnnl::reorder(source, packed.weights).execute(stream, source, packed.weights);
    stream.wait();
  });
}

PackedWeights WeightStore::winograd(int layer, int in_channels, int filters,
                                    const std::optional<SpaceToDepth>& blocks) {
  const auto numbers = static_cast<memory::dim>(winograd_weights(in_channels, filters));
  const memory::desc wanted({numbers}, memory::data_type::f32, memory::format_tag::x);
  return kept_or(layer, wanted, filters, [&](const float* plain, const PackedWeights& packed) {
    const std::vector<float> blocked = blocks ? blocks->weights(plain) : std::vector<float>();
    transform_weights(blocks ? blocked.data() : plain, in_channels, filters,
                      packed.storage->floats());
  });
}

}  // namespace doetune::workloads::onednn
