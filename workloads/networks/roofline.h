// The least time that a network can take on a machine whose peak_rates are known.
#pragma once

#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// What one layer must do for one image.
struct LayerWork {
  double multiply_accumulates = 0;
  double bytes = 0;  ///< its inputs read once, its output written once, its part of the weights
};

/// The work of each layer when weights are read once for `batch` images and each number takes
/// `bytes_per_number`. Activations, sums that a convolution can add (fused_sums) and joins cost
/// nothing of their own.
std::vector<LayerWork> layer_work(const Network& network, int batch, double bytes_per_number);

/// What a machine reaches at best.
struct PeakRates {
  double operations_per_s = 0;  ///< a multiply-accumulate is two
  double bytes_per_s = 0;
};

/// Least seconds for one image: the sum over the layers of the larger of operations over their
/// peak_rate and bytes over theirs. Source: Williams et al. (2009), "Roofline", by layers.
double roofline_seconds(const Network& network, int batch, double bytes_per_number,
                        const PeakRates& peak_rates);

}  // namespace doetune::workloads
