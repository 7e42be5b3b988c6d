#include "workloads/networks/roofline.h"

#include <algorithm>

namespace doetune::workloads {

std::vector<LayerWork> layer_work(const Network& network, int batch, double bytes_per_number) {
  const std::vector<int> fused = fused_sums(network);
  std::vector<LayerWork> work(network.layers.size());
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Layer& layer = network.layers[i];
    const bool added_before = std::ranges::find(fused, static_cast<int>(i)) != fused.end();
    if (std::holds_alternative<Route>(layer.op) || added_before) continue;
    auto numbers = static_cast<double>(layer.output.elements());
    for (const int input : layer.inputs)
      numbers += static_cast<double>(network.shape_of(input).elements());
    if (fused[i] >= 0) numbers += static_cast<double>(layer.output.elements());
    if (const auto* conv = std::get_if<Convolution>(&layer.op)) {
      const double weights = static_cast<double>(conv->filters) *
                             network.shape_of(layer.inputs[0]).channels * conv->kernel.height *
                             conv->kernel.width;
      numbers += weights / batch;
      work[i].multiply_accumulates = weights * layer.output.height * layer.output.width;
    }
    work[i].bytes = numbers * bytes_per_number;
  }
  return work;
}

double roofline_seconds(const Network& network, int batch, double bytes_per_number,
                        const PeakRates& peak_rates) {
  double seconds = 0;
  for (const LayerWork& work : layer_work(network, batch, bytes_per_number))
    seconds += std::max(2 * work.multiply_accumulates / peak_rates.operations_per_s,
                        work.bytes / peak_rates.bytes_per_s);
  return seconds;
}

}  // namespace doetune::workloads
