// Simulated studies: how often the intervals hold the truth at the settings that a fit chose.
//
//   bench_chosen [STUDIES]
//
// A face-centred design, a quadratic truth whose coefficients are normal (or all 0), and normal
// noise in proportion to the standard deviation of the truth over the region. The settings are
// those of a grid with the highest fitted value. "Fitted" are Student's intervals about the fitted
// value, which hold 95 % at settings that were named beforehand; "posterior" are those that doetune
// prints.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/optimum/confirmation.h"
#include "surfaces/quantiles.h"
#include "surfaces/selection/selection.h"

using namespace doetune;

namespace {

struct Case {
  int factors = 3;
  double noise = 0;  ///< infinite: nothing matters
  bool selection = false;
};

struct Rates {
  double mean = 0, next = 0, five = 0, gain = 0, width = 0;
};

struct Tally {
  Rates fitted, posterior;
};

std::vector<doe::Factor> factors_of(int k) {
  std::vector<doe::Factor> factors(static_cast<std::size_t>(k));
  for (int f = 0; f < k; ++f) {
    factors[f].name = std::string(1, static_cast<char>('a' + f));
    factors[f].low = -1;
    factors[f].high = 1;
  }
  return factors;
}

Eigen::MatrixXd grid_of(int k) {
  const int levels = k <= 3 ? 7 : k <= 5 ? 3 : 2;
  const auto points = static_cast<Eigen::Index>(std::lround(std::pow(levels, k)));
  Eigen::MatrixXd grid(points, k);
  for (Eigen::Index i = 0; i < points; ++i) {
    Eigen::Index rest = i;
    for (int f = 0; f < k; ++f) {
      grid(i, f) = 2.0 * static_cast<double>(rest % levels) / (levels - 1) - 1;
      rest /= levels;
    }
  }
  return grid;
}

bool holds(const surfaces::Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

void add_study(const Case& of, const Eigen::MatrixXd& runs, const Eigen::MatrixXd& grid,
               const doe::Model& model, std::uint64_t study, Tally& tally) {
  RandomStream random(2, study);
  Eigen::VectorXd truth(model.column_count());
  for (double& b : truth) b = std::isinf(of.noise) ? 0 : surfaces::normal_draw(random.uniform());
  const Eigen::MatrixXd rows = model.matrix(grid);
  const Eigen::VectorXd over_grid = rows * truth;
  const double spread = std::sqrt((over_grid.array() - over_grid.mean()).square().mean());
  const double sigma = std::isinf(of.noise) ? 1 : of.noise * spread;
  Eigen::VectorXd y = model.matrix(runs) * truth;
  for (double& value : y) value += sigma * surfaces::normal_draw(random.uniform());
  const surfaces::Fit fit =
      of.selection ? surfaces::select_model(model, runs, y,
                                            {.method = doe::SelectionMethod::kBackward, .fit = {}})
                         .fit
                   : surfaces::fit_least_squares(model, runs, y);
  Eigen::Index best = 0;
  fit.responses(grid).maxCoeff(&best);
  const Eigen::VectorXd at = grid.row(best);
  const Eigen::VectorXd elsewhere = Eigen::VectorXd::Constant(of.factors, -0.5);
  const double there = (model.row(elsewhere) * truth)[0];
  const double gain = over_grid[best] - there;
  const double next = over_grid[best] + sigma * surfaces::normal_draw(random.uniform());

  double five = over_grid[best];
  for (int i = 0; i < 5; ++i) five += sigma * surfaces::normal_draw(random.uniform()) / 5;

  const surfaces::Prediction prediction = fit.predict(at);
  const surfaces::Interval mean = *prediction.confidence_interval();
  Eigen::MatrixXd two(2, of.factors);
  two << at.transpose(), elsewhere.transpose();
  const Eigen::MatrixXd errors = fit.mean_errors(two).of_runs;
  const double difference = prediction.mean - fit.response(elsewhere);
  const double half =
      surfaces::t_quantile(0.95, prediction.df) * (errors.row(0) - errors.row(1)).norm();
  tally.fitted.mean += holds(mean, over_grid[best]);
  tally.fitted.next += holds(*prediction.prediction_interval(), next);
  tally.fitted.five += holds(*surfaces::mean_range(prediction, 5), five);
  tally.fitted.gain += holds({difference - half - 1e-9, difference + half + 1e-9}, gain);
  tally.fitted.width += (mean.high - mean.low) / sigma;

  const auto posterior = surfaces::ShrunkenPosterior::of(fit, model);
  const surfaces::Prediction expected = posterior->predict(at);
  const surfaces::Interval shrunken = *expected.confidence_interval();
  const Eigen::MatrixXd draws = posterior->means(two);
  std::vector<double> gains;
  for (Eigen::Index i = 0; i < draws.rows(); ++i) gains.push_back(draws(i, 0) - draws(i, 1));
  const surfaces::Interval of_gain = surfaces::central_interval(gains, 0.95);
  tally.posterior.mean += holds(shrunken, over_grid[best]);
  tally.posterior.next += holds(*expected.prediction_interval(), next);
  tally.posterior.five += holds(*surfaces::mean_range(expected, 5), five);
  tally.posterior.gain += holds({of_gain.low - 1e-9, of_gain.high + 1e-9}, gain);
  tally.posterior.width += (shrunken.high - shrunken.low) / sigma;
}

}  // namespace

int main(int count, char** arguments) {
  const int studies = count > 1 ? std::atoi(arguments[1]) : 1'000;
  const double nothing = std::numeric_limits<double>::infinity();
  fmt::print(
      "| factors | noise | selection | mean | next run | mean of 5 | gain | width "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const bool selection : {false, true}) {
    for (const int k : {2, 3, 5, 6}) {
      if (selection && k > 3) continue;
      const std::vector<doe::Factor> factors = factors_of(k);
      doe::DesignRequest request;
      request.factors = factors;
      request.model = doe::Model::named("quadratic", factors);
      request.options.center_runs = 5;
      const Eigen::MatrixXd runs = doe::build_design("fccd", request).coded();
      const Eigen::MatrixXd grid = grid_of(k);
      for (const double noise : {0.05, 0.3, 0.6, 1.0, 2.0, nothing}) {
        Tally tally;
        for (int study = 0; study < studies; ++study) {
          add_study({k, noise, selection}, runs, grid, request.model,
                    static_cast<std::uint64_t>(study), tally);
        }
        const double n = studies;
        const Rates &a = tally.fitted, &b = tally.posterior;
        fmt::print(
            "| {} | {} | {} | {:.3f} → {:.3f} | {:.3f} → {:.3f} | {:.3f} → {:.3f} | {:.3f} → "
            "{:.3f} | {:.2f} |\n",
            k, std::isinf(noise) ? "nothing matters" : fmt::format("{}", noise),
            selection ? "backward" : "none", a.mean / n, b.mean / n, a.next / n, b.next / n,
            a.five / n, b.five / n, a.gain / n, b.gain / n, b.width / a.width);
      }
    }
  }
  return 0;
}
