// What simulated studies of three factors have in common: factors, runs and a grid of settings.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"

namespace doetune::bench {

inline constexpr int kFactors = 3;

struct Setting {
  std::vector<doe::Factor> factors;  ///< a, b and c from -1 to 1
  doe::Model model;                  ///< quadratic
  Eigen::MatrixXd runs, grid;        ///< a row per run, and per setting that the steps allow
};

inline double normal(RandomStream& random) { return surfaces::normal_draw(random.uniform()); }

/// A face-centred design with five centre runs; factors have `levels` usable settings each.
inline Setting make_setting(int levels) {
  Setting setting;
  setting.factors.resize(kFactors);
  for (int f = 0; f < kFactors; ++f) {
    setting.factors[f].name = std::string(1, static_cast<char>('a' + f));
    setting.factors[f].low = -1;
    setting.factors[f].high = 1;
    setting.factors[f].step = 2.0 / (levels - 1);
  }
  doe::DesignRequest request;
  request.factors = setting.factors;
  request.model = doe::Model::named("quadratic", request.factors);
  request.options.center_runs = 5;
  setting.model = request.model;
  setting.runs = doe::build_design("fccd", request).coded();
  setting.grid.resize(levels * levels * levels, kFactors);
  for (int i = 0; i < setting.grid.rows(); ++i) {
    setting.grid.row(i) << i % levels, i / levels % levels, i / levels / levels;
  }
  setting.grid = setting.grid.array() * 2 / (levels - 1) - 1;
  return setting;
}

}  // namespace doetune::bench
