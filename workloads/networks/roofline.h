// The roofline model: a lower bound of a network's run time from a machine's peak rates.
#pragma once

#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// The work of one layer for one image.
struct LayerWork {
  double multiply_accumulates = 0;
  double bytes = 0;  ///< inputs read once, output written once, and the part of the weights
};

/// The work of each layer when weights are read once per `batch` images and each number takes
/// `bytes_per_number`. Activations, sums that a convolution can add (fused_sums) and concatenations
/// are free.
std::vector<LayerWork> layer_work(const Network& network, int batch, double bytes_per_number);

/// The peak rates of a machine.
struct PeakRates {
  double operations_per_s = 0;  ///< a multiply-accumulate is two
  double bytes_per_s = 0;
};

/// Minimum seconds for one image: the sum over the layers of the larger of operations over their
/// peak rate and bytes over theirs. Source: Williams et al. (2009), "Roofline", applied layer by
/// layer.
double roofline_seconds(const Network& network, int batch, double bytes_per_number,
                        const PeakRates& peak_rates);

}  // namespace doetune::workloads
