#include "workloads/language/cuda/gpu_products.h"

#include <algorithm>
#include <limits>

namespace doetune::workloads::language {
namespace {

constexpr int kTimedLayers = 8;  // of a large model they fill more than a cache
constexpr int kRounds = 3;       // the fastest counts
constexpr int kManyRows = 128;   // with so many, weights are read quickly beside the arithmetic

int rows_of(const StepLaunch& launch, const Product& product) {
  return product.last_rows ? launch.predictions : launch.rows;
}

void normalise_rows(const StepLaunch& launch, const StepView& step, const Product& product,
                    int layer) {
  if (product.x == nullptr) return;
  normalise(launch, step, product.last_rows, product.x,
            product.gains[static_cast<std::size_t>(layer)],
            static_cast<int>(product.matrices.columns), product.from);
}

}  // namespace

GpuProducts::GpuProducts(Precision precision, cudaStream_t stream)
    : precision_(precision),
      stream_(stream),
      workspace_(static_cast<std::int64_t>(cuda::kProductWorkspace), "the workspace of products") {}

GpuProducts::Key GpuProducts::key(const StepLaunch& launch, const Product& product) {
  return {product.to, product.matrices.columns, rows_of(launch, product)};
}

std::vector<GpuProducts::Way> GpuProducts::ways(int rows, const Product& product) const {
  std::vector<Way> found;
  if (rows <= kMaxFewRows) found.emplace_back();
  try {
    const auto made = std::make_shared<const cuda::MatrixProduct>(
        library_, cuda::ProductShape{.m = rows,
                                     .n = product.matrices.rows,
                                     .k = product.matrices.columns,
                                     .precision = precision_,
                                     .transpose_b = true,
                                     .float_result = true,
                                     .add = product.add});
    for (int i = 0; i < made->algorithms(); ++i) found.push_back({made, i});
  } catch (const CannotRun&) {  // the kernel for few rows has every product of few rows
    if (found.empty()) throw;
  }
  return found;
}

void GpuProducts::prepare(const StepLaunch& launch, const StepView& step, const Product& product) {
  if (ways_.contains(key(launch, product))) return;
  Way best;
  double shortest = std::numeric_limits<double>::infinity();
  for (const Way& way : ways(rows_of(launch, product), product)) {
    const double taken = seconds(way, launch, step, product);
    if (taken >= shortest) continue;
    shortest = taken;
    best = way;
  }
  ways_[key(launch, product)] = best;
}

void GpuProducts::multiply(const StepLaunch& launch, const StepView& step, const Product& product,
                           int layer) const {
  run(ways_.at(key(launch, product)), launch, step, product, layer);
}

void GpuProducts::run(const Way& way, const StepLaunch& launch, const StepView& step,
                      const Product& product, int layer) const {
  normalise_rows(launch, step, product, layer);
  const void* weights = product.matrices.layers[static_cast<std::size_t>(layer)];
  if (way.product == nullptr)
    return multiply_few_rows(stream_, precision_,
                             {.weights = weights,
                              .from = product.from,
                              .rows = rows_of(launch, product),
                              .n = static_cast<int>(product.matrices.rows),
                              .k = static_cast<int>(product.matrices.columns),
                              .to = product.to,
                              .add = product.add,
                              .gated = product.gated});
  way.product->run(way.algorithm, {product.from, weights, product.to, workspace_.data()}, stream_);
  if (product.gated != nullptr)
    gate(launch, step, product.to, static_cast<int>(product.matrices.rows / 2), product.gated);
}

double GpuProducts::seconds(const Way& way, const StepLaunch& launch, const StepView& step,
                            const Product& product) {
  const int wanted = rows_of(launch, product) < kManyRows ? kTimedLayers : 1;
  const int layers = std::min(wanted, static_cast<int>(product.matrices.layers.size()));
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= kRounds; ++round) {
    begin_.record(stream_);
    for (int layer = 0; layer < layers; ++layer) run(way, launch, step, product, layer);
    end_.record(stream_);
    end_.wait();
    if (round > 0) best = std::min(best, end_.seconds_since(begin_));  // the first loads kernels
  }
  return best;
}

}  // namespace doetune::workloads::language
