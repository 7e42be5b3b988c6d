#include "workloads/language/cuda/gpu_products.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "workloads/language/cuda/gpu_kernels.h"

namespace doetune::workloads::language {
namespace {

constexpr int kTimedLayers = 8;  // of a large model they fill more than a cache
constexpr int kRounds = 3;       // the fastest counts

}  // namespace

GpuProducts::GpuProducts(Precision precision, cudaStream_t stream)
    : precision_(precision),
      stream_(stream),
      workspace_(static_cast<std::int64_t>(cuda::kProductWorkspace), "the workspace of products") {}

void GpuProducts::prepare(const LayerMatrices& matrices, int rows, const void* from, float* to,
                          bool add) {
  if (ways_.contains(key(matrices, rows, add))) return;
  std::vector<Way> candidates;
  if (rows <= kMaxFewRows) candidates.emplace_back();
  try {
    const auto product = std::make_shared<const cuda::MatrixProduct>(
        library_, cuda::ProductShape{.m = rows,
                                     .n = matrices.rows,
                                     .k = matrices.columns,
                                     .precision = precision_,
                                     .transpose_b = true,
                                     .float_result = true,
                                     .add = add});
    for (int i = 0; i < product->algorithms(); ++i) candidates.push_back({product, i});
  } catch (const CannotRun&) {  // the kernel for few rows has every product of few rows
    if (candidates.empty()) throw;
  }
  Way best;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Way& way : candidates) {
    const double taken = seconds(way, matrices, rows, from, to, add);
    if (taken >= shortest) continue;
    shortest = taken;
    best = way;
  }
  ways_[key(matrices, rows, add)] = best;
}

void GpuProducts::multiply(const LayerMatrices& matrices, int layer, int rows, const void* from,
                           float* to, bool add) const {
  run(ways_.at(key(matrices, rows, add)), matrices, layer, rows, from, to, add);
}

void GpuProducts::run(const Way& way, const LayerMatrices& matrices, int layer, int rows,
                      const void* from, float* to, bool add) const {
  const void* weights = matrices.layers[static_cast<std::size_t>(layer)];
  if (way.product != nullptr)
    return way.product->run(way.algorithm, {from, weights, to, workspace_.data()}, stream_);
  multiply_few_rows(stream_, precision_,
                    {weights, from, to, rows, static_cast<int>(matrices.rows),
                     static_cast<int>(matrices.columns), add});
}

double GpuProducts::seconds(const Way& way, const LayerMatrices& matrices, int rows,
                            const void* from, float* to, bool add) {
  const int layers = std::min(kTimedLayers, static_cast<int>(matrices.layers.size()));
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) {
    begin_.record(stream_);
    for (int layer = 0; layer < layers; ++layer) run(way, matrices, layer, rows, from, to, add);
    end_.record(stream_);
    end_.wait();
    if (round > 0) best = std::min(best, end_.seconds_since(begin_));  // the first loads kernels
  }
  return best;
}

}  // namespace doetune::workloads::language
