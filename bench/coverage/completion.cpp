// Simulated memory limits: how often settings complete that are said to.
//
//   bench_completion [STUDIES]
//
// Four factors, of which a random memory requirement depends on some: a weighted sum, a product of
// executors and their size, or a product of exponentials. A random 15 to 60 % of the region does
// not complete. Runs are a Latin hypercube on five levels. "Chosen" is the setting at which a rate
// that rises with the same factors is highest, among those said to complete: the hardest case, for
// it lies at the boundary, where the model is most optimistic.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/models/feasibility.h"

using namespace doetune;

namespace {

constexpr int kFactors = 4, kSettings = 3'000;
constexpr std::array kThresholds{0.8, 0.9, 0.95, 0.98};

/// A number on [-1, 1].
double centred(RandomStream& random) { return 2 * random.uniform() - 1; }

/// The memory that settings require, in any unit.
class Requirement {
 public:
  Requirement(int kind, RandomStream& random) : kind_(kind) {
    for (double& weight : weights_) {
      weight = std::exp(0.7 * normal_draw(random));
      if (random.uniform() < 0.2) weight = 0;
    }
    if (std::accumulate(weights_.begin(), weights_.end(), 0.0) == 0) weights_[0] = 1;
    size_ = 0.5 + 2.5 * random.uniform();
    growth_ = 0.5 + 1.5 * random.uniform();
  }

  double operator()(const Eigen::VectorXd& x) const {
    if (kind_ == 0) return Eigen::Map<const Eigen::Vector4d>(weights_.data()).dot(x);
    if (kind_ == 1) {
      return (x[0] + 1.3) * (size_ + weights_[1] * (x[1] + 1) + 0.3 * weights_[2] * (x[2] + 1));
    }
    return std::exp(growth_ * (x[0] + x[1])) + weights_[2] * x[2];
  }

 private:
  static double normal_draw(RandomStream& random) {
    return surfaces::normal_draw(random.uniform());
  }

  int kind_;
  std::array<double, kFactors> weights_;
  double size_ = 1, growth_ = 1;
};

double rate(const Eigen::VectorXd& x) {
  return (1 + 0.5 * x[0]) * (1 + 0.5 * x[1]) * (1 + 0.2 * x[3]);
}

/// Of 30 Latin hypercubes the one whose closest points are the farthest apart, on five levels.
Eigen::MatrixXd runs_of(int n, RandomStream& random) {
  Eigen::MatrixXd best;
  double widest = -1;
  for (int attempt = 0; attempt < 30; ++attempt) {
    Eigen::MatrixXd runs(n, kFactors);
    for (int f = 0; f < kFactors; ++f) {
      const std::vector<int> order = random_permutation(n, random);
      for (int i = 0; i < n; ++i) runs(i, f) = 2.0 * order[i] / (n - 1) - 1;
    }
    double closest = 1e9;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        closest = std::min(closest, (runs.row(i) - runs.row(j)).cwiseAbs().sum());
      }
    }
    if (closest > widest) {
      widest = closest;
      best = runs;
    }
  }
  return (2 * best.array()).round() / 2;
}

/// Sums over studies.
struct Tally {
  int studies = 0;
  double squared_error = 0;  ///< of probabilities, over the region
  double area = 0, beyond = 0;
  struct Chosen {
    double failed = 0, said = 0, value = 0;
  };
  std::array<Chosen, kThresholds.size()> chosen;
};

void add_study(int n, int study, Tally& tally) {
  RandomStream random(1, static_cast<std::uint64_t>(1'000 * n + study));
  const Requirement requirement(study % 3, random);
  Eigen::MatrixXd settings(kSettings, kFactors);
  for (double& x : settings.reshaped()) x = std::round(8 * centred(random)) / 8;
  std::vector<double> required;
  for (int i = 0; i < kSettings; ++i) required.push_back(requirement(settings.row(i)));
  std::vector<double> sorted = required;
  std::sort(sorted.begin(), sorted.end());
  const double available =
      sorted[static_cast<std::size_t>(kSettings * (0.4 + 0.45 * random.uniform()))];

  const Eigen::MatrixXd runs = runs_of(n, random);
  std::vector<bool> completed;
  for (int i = 0; i < n; ++i) completed.push_back(requirement(runs.row(i)) <= available);
  const auto able = std::count(completed.begin(), completed.end(), true);
  if (able == 0 || able == n) return;
  std::vector<doe::Factor> factors(kFactors);
  for (int f = 0; f < kFactors; ++f) {
    factors[f].name = std::string(1, static_cast<char>('a' + f));
    factors[f].low = -1;
    factors[f].high = 1;
  }
  const surfaces::Feasibility model = surfaces::fit_feasibility(factors, runs, completed);
  const Eigen::VectorXd probability = model.probabilities(settings);

  ++tally.studies;
  double best_rate = 0;
  for (int i = 0; i < kSettings; ++i) {
    const bool completes = required[i] <= available;
    if (completes) best_rate = std::max(best_rate, rate(settings.row(i)));
    tally.squared_error += std::pow(probability[i] - completes, 2) / kSettings;
    if (probability[i] < 0.9) continue;
    tally.area += 1.0 / kSettings;
    tally.beyond += completes ? 0 : 1.0 / kSettings;
  }
  for (std::size_t t = 0; t < kThresholds.size(); ++t) {
    int best = -1;
    for (int i = 0; i < kSettings; ++i) {
      if (probability[i] < kThresholds[t]) continue;
      if (best < 0 || rate(settings.row(i)) > rate(settings.row(best))) best = i;
    }
    if (best < 0) probability.maxCoeff(&best);
    const bool completes = required[best] <= available;
    tally.chosen[t].failed += completes ? 0 : 1;
    tally.chosen[t].said += 1 - probability[best];
    tally.chosen[t].value += completes ? rate(settings.row(best)) / best_rate : 0;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const int studies = count > 1 ? std::atoi(arguments[1]) : 150;
  for (const int n : {16, 24, 40}) {
    Tally tally;
    for (int study = 0; study < studies; ++study) add_study(n, study, tally);
    const double all = tally.studies;
    fmt::print(
        "{} runs, {} studies: Brier score {:.3f}; {:.2f} of the region at 0.9 and more, of "
        "which {:.3f} does not complete\n",
        n, tally.studies, tally.squared_error / all, tally.area / all, tally.beyond / tally.area);
    for (std::size_t t = 0; t < kThresholds.size(); ++t) {
      const Tally::Chosen& chosen = tally.chosen[t];
      fmt::print(
          "  at least {:.2f}: the chosen setting fails {:.3f}, said {:.3f}; rate {:.3f} of "
          "the best that completes, 0 if it fails\n",
          kThresholds[t], chosen.failed / all, chosen.said / all, chosen.value / all);
    }
  }
  return 0;
}
