// Simulated studies with limits: whether settings that were chosen hold them as often as is said.
//
//   bench_limits [STUDIES]
//
// Three factors, a face-centred design with five centre runs. One response is maximised, and one or
// two others have to stay below a limit in nine of ten runs. All truths are quadratics with normal
// coefficients; noise is in proportion to their standard deviation over the region, and the errors
// of two responses in one run have the correlation 0.5. A limit is a random quantile of the truth
// over the region: of 30 to 80 %, or tight ones of 2 to 10 %. "By the surfaces" is what is said
// with the errors of the surfaces, "by the posteriors" what doetune says. "Alarms": confirmation
// runs, of which nothing has changed, that disagree with what was expected, or whose mean is beyond
// a limit. The last table is over all noise levels and limits, by what is said: a user knows that,
// and not the noise.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
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
#include "surfaces/optimum/confirmation.h"
#include "surfaces/optimum/normal_box.h"
#include "surfaces/selection/selection.h"

using namespace doetune;
using bench::kFactors, bench::normal, bench::Setting;

namespace {

constexpr int kRuns = 5;
constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kAsked = 0.9, kCorrelation = 0.5;

struct Case {
  int limits = 1;
  double noise = 0;  ///< infinite: nothing matters
  bool tight = false;
  bool selects = false;
};

struct Truth {
  Eigen::VectorXd coefficients;
  double sigma = 1;
  double limit = 0;  ///< the responses after the first
};

struct Probability {
  double said = 0, truth = 0;
};

struct Tally {
  std::vector<Probability> probabilities;
  double value = 0;
  int promised = 0;          ///< studies in which the limits are said to be met as asked
  double promised_hold = 0;  ///< probability there
  int disagrees = 0, alarms = 0;
};

Truth make_truth(const Case& of, const Setting& setting, RandomStream& random) {
  Truth truth{Eigen::VectorXd(setting.model.column_count())};
  for (double& b : truth.coefficients) b = std::isinf(of.noise) ? 0 : normal(random);
  Eigen::VectorXd over_grid = setting.model.matrix(setting.grid) * truth.coefficients;
  const double deviation = std::sqrt((over_grid.array() - over_grid.mean()).square().mean());
  if (!std::isinf(of.noise)) truth.sigma = of.noise * deviation;
  const double share = of.tight ? 0.02 + 0.08 * random.uniform() : 0.3 + 0.5 * random.uniform();
  if (std::isinf(of.noise)) {
    truth.limit = surfaces::normal_value(share);
  } else {
    std::sort(over_grid.begin(), over_grid.end());
    truth.limit =
        over_grid[static_cast<Eigen::Index>(share * static_cast<double>(over_grid.size() - 1))];
  }
  return truth;
}

/// Standard normal errors of the responses in one run.
Eigen::VectorXd run_errors(std::size_t responses, RandomStream& random) {
  Eigen::VectorXd errors(responses);
  const double common = normal(random);
  for (double& error : errors) {
    error = std::sqrt(kCorrelation) * common + std::sqrt(1 - kCorrelation) * normal(random);
  }
  return errors;
}

/// One study, analysed by the surfaces alone and by the posteriors.
class Study {
 public:
  Study(const Case& of, const Setting& setting, std::uint64_t number)
      : setting_(setting), random_(4, number) {
    for (int r = 0; r <= of.limits; ++r) truths_.push_back(make_truth(of, setting, random_));
    Eigen::MatrixXd y(setting.runs.rows(), truths_.size());
    for (Eigen::Index i = 0; i < y.rows(); ++i) y.row(i) = measured(setting.runs.row(i));
    request_ = {setting.factors, {}, {}, {}};
    request_.threads = 1;
    for (std::size_t r = 0; r < truths_.size(); ++r) {
      const Eigen::VectorXd own = y.col(static_cast<Eigen::Index>(r));
      fits_.push_back(std::make_unique<surfaces::Fit>(fit(of, own)));
      surfaces::Goal goal;
      if (r > 0) {
        goal.type = surfaces::GoalType::kAtMost;
        goal.high = truths_[r].limit;
        goal.confidence = kAsked;
      }
      request_.responses.push_back({fmt::format("y{}", r), fits_.back().get(), goal});
    }
    const std::vector<surfaces::Interval> ranges = surfaces::predicted_ranges(request_);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      request_.responses[r].goal->close(ranges[r].low, ranges[r].high);
    }
  }

  void add_to(Tally& by_surfaces, Tally& by_posteriors) {
    add(request_, by_surfaces);
    for (std::size_t r = 0; r < fits_.size(); ++r) {
      auto posterior = surfaces::ShrunkenPosterior::of(*fits_[r], setting_.model);
      if (!posterior) continue;
      request_.responses[r].posterior =
          std::make_shared<const surfaces::ShrunkenPosterior>(*std::move(posterior));
    }
    add(request_, by_posteriors);
  }

 private:
  surfaces::Fit fit(const Case& of, const Eigen::VectorXd& y) const {
    if (!of.selects) return surfaces::fit_least_squares(setting_.model, setting_.runs, y);
    return surfaces::select_model(setting_.model, setting_.runs, y,
                                  {.method = doe::SelectionMethod::kBackward})
        .fit;
  }

  double mean(const Truth& truth, const Eigen::VectorXd& coded) const {
    return (setting_.model.row(coded) * truth.coefficients)[0];
  }

  Eigen::RowVectorXd measured(const Eigen::VectorXd& coded) {
    const Eigen::VectorXd errors = run_errors(truths_.size(), random_);
    Eigen::RowVectorXd y(truths_.size());
    for (std::size_t r = 0; r < truths_.size(); ++r) {
      const auto at = static_cast<Eigen::Index>(r);
      y[at] = mean(truths_[r], coded) + truths_[r].sigma * errors[at];
    }
    return y;
  }

  /// The probability that a run meets all limits.
  double holds(const Eigen::VectorXd& coded) const {
    const auto limits = static_cast<Eigen::Index>(truths_.size()) - 1;
    Eigen::MatrixXd correlation = Eigen::MatrixXd::Constant(limits, limits, kCorrelation);
    correlation.diagonal().setOnes();
    Eigen::VectorXd high(limits);
    for (Eigen::Index r = 0; r < limits; ++r) {
      const Truth& truth = truths_[static_cast<std::size_t>(r) + 1];
      high[r] = (truth.limit - mean(truth, coded)) / truth.sigma;
    }
    return surfaces::normal_box_probability(correlation,
                                            Eigen::VectorXd::Constant(limits, -kNothing), high);
  }

  void add(const surfaces::OptimumRequest& request, Tally& tally) {
    const surfaces::Candidate best = surfaces::find_optimum(request).best;
    const Eigen::VectorXd coded = doe::coded_point(setting_.factors, best.settings);
    const double said = best.all_goals_met_probability.value_or(1), truth = holds(coded);
    tally.probabilities.push_back({said, truth});
    const Eigen::ArrayXd ramp = setting_.model.matrix(setting_.grid) * truths_[0].coefficients;
    const double spread = std::sqrt((ramp - ramp.mean()).square().mean());
    if (spread > 0) tally.value += (mean(truths_[0], coded) - ramp.mean()) / spread;
    if (best.violation > 0 || best.doubt > 0) return;
    ++tally.promised;
    tally.promised_hold += truth;
    confirm(request, coded, tally);
  }

  void confirm(const surfaces::OptimumRequest& request, const Eigen::VectorXd& coded,
               Tally& tally) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(static_cast<Eigen::Index>(truths_.size()));
    for (int run = 0; run < kRuns; ++run) sum += measured(coded) / kRuns;
    bool disagrees = false, beyond = false;
    const double level = 1 - 0.05 / static_cast<double>(truths_.size());
    for (std::size_t r = 0; r < truths_.size(); ++r) {
      const surfaces::GoalResponse& response = request.responses[r];
      const surfaces::Prediction expected = response.posterior ? response.posterior->predict(coded)
                                                               : response.surface->predict(coded);
      const double own = sum[static_cast<Eigen::Index>(r)];
      disagrees |= !surfaces::agrees(*surfaces::mean_range(expected, kRuns, level), own);
      beyond |= r > 0 && own > truths_[r].limit;
    }
    tally.disagrees += disagrees ? 1 : 0;
    tally.alarms += disagrees || beyond ? 1 : 0;
  }

  const Setting& setting_;
  RandomStream random_;
  std::vector<Truth> truths_;
  std::vector<std::unique_ptr<surfaces::Fit>> fits_;
  surfaces::OptimumRequest request_;
};

Probability mean_of(const std::vector<Probability>& all) {
  Probability sum;
  for (const Probability& one : all) {
    sum.said += one.said;
    sum.truth += one.truth;
  }
  const double n = std::max(1.0, static_cast<double>(all.size()));
  return {sum.said / n, sum.truth / n};
}

void print(const Case& of, const char* how, const Tally& tally, int studies) {
  const double n = studies, promised = std::max(1, tally.promised);
  const Probability mean = mean_of(tally.probabilities);
  fmt::print("| {} | {}{} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {} | {:.2f} | {:.3f} | {:.3f} |\n",
             of.limits, std::isinf(of.noise) ? "nothing matters" : fmt::format("{}", of.noise),
             of.tight ? ", tight" : "", of.selects ? "backward" : "none", how, mean.said,
             mean.truth, tally.value / n, tally.promised, tally.promised_hold / promised,
             tally.disagrees / promised, tally.alarms / promised);
  std::fflush(stdout);
}

/// The mean of what was said, and of what is true, by what was said.
void print_reliability(const char* how, bool selects, const std::vector<Probability>& all) {
  constexpr double kEdges[] = {0, 0.2, 0.5, 0.8, 0.9, 0.95, 0.98, 1 + 1e-9};
  for (std::size_t bin = 0; bin + 1 < std::size(kEdges); ++bin) {
    std::vector<Probability> inside;
    std::copy_if(all.begin(), all.end(), std::back_inserter(inside), [&](const Probability& one) {
      return one.said >= kEdges[bin] && one.said < kEdges[bin + 1];
    });
    const Probability mean = mean_of(inside);
    fmt::print("| {} | {} | {} to {:.2g} | {} | {:.3f} | {:.3f} |\n", selects ? "backward" : "none",
               how, kEdges[bin], kEdges[bin + 1], inside.size(), mean.said, mean.truth);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int studies = count > 1 ? std::atoi(arguments[1]) : 400;
  const Setting setting = bench::make_setting(9);
  fmt::print(
      "| limits | noise | selection | by | said | true | value | promised | true there | "
      "disagrees | alarms |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<Probability> by[2][2];  // of the selection; by surfaces, posteriors
  for (const bool selects : {false, true}) {
    for (const int limits : {1, 2}) {
      for (const bool tight : {false, true}) {
        for (const double noise : {0.1, 0.5, 1.0, kNothing}) {
          const Case of{limits, noise, tight, selects};
          Tally by_surfaces, by_posteriors;
          for (int study = 0; study < studies; ++study) {
            Study(of, setting, static_cast<std::uint64_t>(study))
                .add_to(by_surfaces, by_posteriors);
          }
          print(of, "surfaces", by_surfaces, studies);
          print(of, "posteriors", by_posteriors, studies);
          const Tally* tallies[] = {&by_surfaces, &by_posteriors};
          for (int how = 0; how < 2; ++how) {
            const std::vector<Probability>& own = tallies[how]->probabilities;
            by[selects][how].insert(by[selects][how].end(), own.begin(), own.end());
          }
        }
      }
    }
  }
  fmt::print(
      "\n| selection | by | said | studies | said, mean | true |\n|---|---|---|---|---|---|\n");
  for (const bool selects : {false, true}) {
    print_reliability("surfaces", selects, by[selects][0]);
    print_reliability("posteriors", selects, by[selects][1]);
  }
  return 0;
}
