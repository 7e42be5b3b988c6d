// The published study of streaming video analytics (GTC 2019, experiment 3): 20 runs of a
// face-centred CCD. Columns: executors per GPU, batch size, decoding rate [Hz], throughput
// [images/s], processing time [s].
#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "doe/design.h"
#include "tests/doe/factors.h"

namespace doetune::tests {

inline constexpr std::array<std::array<double, 5>, 20> kPublishedRuns{{
    {1, 8, 5, 1315, 4.00},  {3, 8, 5, 2640, 2.00},  {2, 8, 5, 2565, 2.07},  {2, 8, 1, 1396, 0.75},
    {2, 8, 5, 2490, 2.10},  {2, 8, 9, 2430, 3.90},  {3, 1, 9, 3168, 3.00},  {2, 8, 5, 2600, 2.03},
    {2, 15, 5, 2545, 2.07}, {3, 15, 9, 3114, 3.03}, {3, 15, 1, 1325, 0.80}, {3, 1, 1, 1832, 0.58},
    {1, 15, 9, 1530, 6.20}, {2, 8, 5, 2605, 2.03},  {1, 1, 9, 1422, 6.67},  {2, 8, 5, 2565, 2.07},
    {1, 15, 1, 1052, 1.00}, {2, 1, 5, 2645, 2.00},  {1, 1, 1, 1062, 1.00},  {2, 8, 5, 2645, 2.00},
}};

inline std::vector<doe::Factor> published_factors() {
  return {whole("executors_per_gpu", 1, 3), whole("batch_size", 1, 15),
          continuous("decode_rate", 1, 9)};
}

inline Eigen::MatrixXd published_points() {
  Eigen::MatrixXd coded(20, 3);
  for (int i = 0; i < 20; ++i) {
    const auto& run = kPublishedRuns[i];
    coded.row(i) = doe::coded_point(published_factors(), {run[0], run[1], run[2]}).transpose();
  }
  return coded;
}

/// The response in a column: 3 is the throughput, 4 the processing time.
inline Eigen::VectorXd published_response(int column) {
  Eigen::VectorXd y(20);
  for (int i = 0; i < 20; ++i) y[i] = kPublishedRuns[i][column];
  return y;
}

}  // namespace doetune::tests
