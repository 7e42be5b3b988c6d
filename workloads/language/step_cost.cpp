#include "workloads/language/step_cost.h"

#include <algorithm>

namespace doetune::workloads {

void StepSize::add(int position, int count, bool predict) {
  tokens += count;
  predictions += predict;
  cached += position + count;
  scores += std::int64_t{count} * position + std::int64_t{count} * (count + 1) / 2;
}

StepCost cost_of(const DecoderShape& shape, const StepSize& size, Precision weights,
                 CacheType cache, const std::optional<PeakRates>& peak_rates) {
  StepCost cost;
  const auto add = [&](double count, double operations, double bytes) {
    cost.bytes += count * bytes;
    if (peak_rates)
      cost.roofline_s += count * std::max(operations / peak_rates->operations_per_s,
                                          bytes / peak_rates->bytes_per_s);
  };
  const auto add_product = [&](double count, int rows, double outputs, double inputs) {
    if (rows > 0) add(count, 2.0 * rows * outputs * inputs, outputs * inputs * bytes_of(weights));
  };
  const double width = shape.width;
  add_product(shape.layers, size.tokens, width + 2 * shape.kv_width(), width);  // Q, K, V
  add_product(shape.layers, size.tokens, width, width);                         // O
  add_product(shape.layers, size.tokens, 2.0 * shape.ffn_width, width);         // G, U
  add_product(shape.layers, size.tokens, width, shape.ffn_width);               // D
  add_product(1, size.predictions, shape.vocabulary, width);                    // L
  const double cache_bytes =
      static_cast<double>(cache_bytes_per_token(shape, cache)) / shape.layers;
  add(shape.layers, 4 * width * static_cast<double>(size.scores),
      cache_bytes * static_cast<double>(size.cached));
  return cost;
}

}  // namespace doetune::workloads
