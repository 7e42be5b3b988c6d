#include "workloads/language/cuda/gpu_products.h"

#include <algorithm>
#include <limits>

#include "workloads/engines/cudnn/plan_chooser.h"

namespace doetune::workloads::language {
namespace {

constexpr int kTimedLayers = 8;  // of a large model they fill more than a cache
constexpr int kRounds = 3;       // the fastest counts
constexpr int kManyRows = 128;   // with so many, weights are read quickly beside the arithmetic

// Numbers of rows beyond this, of which there may be a hundred, would take nearly all of the time:
// the library's first proposal is taken.
constexpr int kTimedRows = 2048;

int rows_of(const StepLaunch& launch, const Product& product) {
  return product.last_rows ? launch.predictions : launch.rows;
}

ProductKey key_of(const StepLaunch& launch, const Product& product) {
  return {product.matrices.layers.front(), rows_of(launch, product)};
}

void normalise_rows(const StepLaunch& launch, const StepView& step, const Product& product,
                    int layer) {
  if (product.x == nullptr) return;
  normalise(launch, step, product.last_rows, product.x,
            product.gains[static_cast<std::size_t>(layer)],
            static_cast<int>(product.matrices.columns), product.from);
}

}  // namespace

GpuProducts::GpuProducts(Precision precision, cudaStream_t stream, ProductChoices& choices)
    : precision_(precision),
      stream_(stream),
      workspace_(static_cast<std::int64_t>(cuda::kProductWorkspace), "the workspace of products"),
      choices_(choices) {}

std::vector<GpuProducts::Way> GpuProducts::ways(int rows, const Product& product) const {
  const int timed = rows > kTimedRows ? 0 : cudnn::proposals_to_time();
  std::vector<Way> found;
  if (rows <= kMaxFewRows) found.emplace_back();
  if (timed == 0 && !found.empty()) return found;
  try {
    const auto made = std::make_shared<const cuda::MatrixProduct>(
        library_, cuda::ProductShape{.m = rows,
                                     .n = product.matrices.rows,
                                     .k = product.matrices.columns,
                                     .precision = precision_,
                                     .transpose_b = true,
                                     .float_result = true,
                                     .add = product.add});
    const int proposals = std::min(std::max(timed, 1), made->algorithms());
    for (int i = 0; i < proposals; ++i) found.push_back({made, i});
  } catch (const CannotRun&) {  // the kernel for few rows has every product of few rows
    if (found.empty()) throw;
  }
  return found;
}

void GpuProducts::prepare(const StepLaunch& launch, const StepView& step, const Product& product) {
  const ProductKey key = key_of(launch, product);
  const std::vector<Way> all = ways(rows_of(launch, product), product);
  if (!choices_.contains(key) && all.size() > 1)
    choices_[key] = fastest(all, launch, step, product);
  else
    run(all.at(choices_[key]), launch, step, product, 0);
  // A copy: other decoders may be made, and add choices, while this one multiplies.
  ways_[key] = all.at(choices_.at(key));
}

/// The index of the fastest way.
std::size_t GpuProducts::fastest(const std::vector<Way>& ways, const StepLaunch& launch,
                                 const StepView& step, const Product& product) {
  std::size_t best = 0;
  double shortest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const double taken = seconds(ways[i], launch, step, product);
    if (taken >= shortest) continue;
    shortest = taken;
    best = i;
  }
  return best;
}

void GpuProducts::multiply(const StepLaunch& launch, const StepView& step, const Product& product,
                           int layer) const {
  run(ways_.at(key_of(launch, product)), launch, step, product, layer);
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
