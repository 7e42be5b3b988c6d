// Simulated studies: how often the range of the true best setting of a factor holds it.
//
//   bench_best_range [STUDIES]
//
// Three factors, a face-centred design with five centre runs, a quadratic truth with normal
// coefficients, of which those with the third factor are 0 where it is idle; noise is in proportion
// to the standard deviation of the truth over the region. The range is that of 90 % of the draws.
// Before the arrow: draws about the fitted surface; after it: those of the posterior, which doetune
// prints. "Width" is that of the range of an idle factor over the factor's, which it should fill.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/coverage/cube.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/uncertainty.h"
#include "surfaces/selection/selection.h"

using namespace doetune;
using bench::kFactors, bench::normal, bench::Setting;

namespace {

constexpr int kDraws = 1'000;

struct Case {
  bool selects = false, idle = false;
  double noise = 0;
};

struct Tally {
  int holds = 0, asked = 0;
  double width = 0;
  int idle = 0;
};

Eigen::VectorXd make_truth(const Case& of, const Setting& setting, RandomStream& random) {
  Eigen::VectorXd b(setting.model.column_count());
  for (int c = 0; c < b.size(); ++c) {
    const auto& column = setting.model.columns()[static_cast<std::size_t>(c)];
    const doe::Term& term = setting.model.terms()[static_cast<std::size_t>(column.term)];
    b[c] = of.idle && term.powers[2] > 0 ? 0 : normal(random);
  }
  return b;
}

void add(const surfaces::OptimumRequest& request, const Case& of, const Eigen::VectorXd& best,
         Tally& tally) {
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  const auto places = surfaces::optimum_uncertainty(request, optimum, kDraws).factors;
  for (int f = 0; f < kFactors; ++f) {
    const auto& [name, range, shares, anywhere] = places[static_cast<std::size_t>(f)];
    if (of.idle && f == 2) {
      tally.width += (range.high - range.low) / 2;
      ++tally.idle;
      continue;
    }
    constexpr double kRounding = 0.025;  // of the grid
    ++tally.asked;
    tally.holds += range.low - kRounding <= best[f] && best[f] <= range.high + kRounding ? 1 : 0;
  }
}

void add_study(const Case& of, const Setting& setting, std::uint64_t number, Tally& fitted,
               Tally& drawn) {
  RandomStream random(5, number);
  const Eigen::VectorXd b = make_truth(of, setting, random);
  const Eigen::VectorXd over_grid = setting.model.matrix(setting.grid) * b;
  const double sigma = of.noise * std::sqrt((over_grid.array() - over_grid.mean()).square().mean());
  Eigen::VectorXd y = setting.model.matrix(setting.runs) * b;
  for (double& value : y) value += sigma * normal(random);
  Eigen::Index best = 0;
  over_grid.maxCoeff(&best);
  const surfaces::Fit fit =
      of.selects ? surfaces::select_model(setting.model, setting.runs, y,
                                          {.method = doe::SelectionMethod::kBackward})
                       .fit
                 : surfaces::fit_least_squares(setting.model, setting.runs, y);
  surfaces::OptimumRequest request{setting.factors, {}, {}, {}};
  request.threads = 1;
  request.responses.push_back({"y", &fit, surfaces::Goal{}});
  const surfaces::Interval range = surfaces::predicted_ranges(request).front();
  if (!(range.high > range.low)) return;
  request.responses[0].goal->close(range.low, range.high);
  add(request, of, setting.grid.row(best), fitted);
  auto posterior = surfaces::ShrunkenPosterior::of(fit, setting.model);
  if (!posterior) return;
  request.responses[0].posterior =
      std::make_shared<const surfaces::ShrunkenPosterior>(*std::move(posterior));
  add(request, of, setting.grid.row(best), drawn);
}

}  // namespace

int main(int count, char** arguments) {
  const int studies = count > 1 ? std::atoi(arguments[1]) : 200;
  const Setting setting = bench::make_setting(41);
  fmt::print(
      "| noise | selection | third factor | holds | width if idle |\n|---|---|---|---|---|\n");
  for (const bool selects : {false, true}) {
    for (const bool idle : {false, true}) {
      for (const double noise : {0.05, 0.3, 0.6, 1.0, 2.0}) {
        const Case of{selects, idle, noise};
        Tally fitted, drawn;
        for (int study = 0; study < studies; ++study) {
          add_study(of, setting, static_cast<std::uint64_t>(study), fitted, drawn);
        }
        const auto width = [](const Tally& tally) { return tally.width / std::max(1, tally.idle); };
        fmt::print("| {} | {} | {} | {:.3f} → {:.3f} | {} |\n", noise,
                   selects ? "backward" : "none", idle ? "idle" : "matters",
                   1.0 * fitted.holds / fitted.asked, 1.0 * drawn.holds / drawn.asked,
                   idle ? fmt::format("{:.2f} → {:.2f}", width(fitted), width(drawn)) : "");
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
