#include "surfaces/optimum/global_search.h"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>
#include <optional>

#include "base/parallel.h"
#include "doe/design.h"
#include "surfaces/optimum/score.h"

namespace doetune::surfaces {
namespace {

constexpr int kGlobalEvaluations = 40'000;
constexpr int kLocalEvaluations = 4'000;
constexpr double kTolerance = 1e-5;  // coded
constexpr double kForbidden = -1e6;  // merit below that of any settings inside the region

/// The factors that are not held, as the coded variables of an optimiser.
class Variables {
 public:
  Variables(const OptimumRequest& request, const SettingsSearch& search)
      : request_(request), scorer_(request), region_(request.region.for_another_thread()) {
    for (std::size_t f = 0; f < request.factors.size(); ++f) {
      const Settings& choices = search.choices()[f];
      settings_.push_back(choices.front());
      if (choices.size() == 1) continue;
      free_.push_back(f);
      low_.push_back(request.factors[f].to_coded(choices.front()));
      high_.push_back(request.factors[f].to_coded(choices.back()));
    }
  }

  std::vector<double> centre() const {
    std::vector<double> centre;
    for (std::size_t i = 0; i < free_.size(); ++i) centre.push_back((low_[i] + high_[i]) / 2);
    return centre;
  }

  /// The objective: increases with the score.
  double worth(const std::vector<double>& variables) {
    const Settings settings = natural(variables);
    if (!region_.allows(settings)) return kForbidden;
    return merit(scorer_.scores(doe::coded_point(request_.factors, settings).transpose()).front());
  }

  std::optional<Settings> snapped(const std::vector<double>& variables) const {
    Settings settings = natural(variables);
    for (const std::size_t f : free_) settings[f] = request_.factors[f].snap(settings[f]);
    if (!region_.allows(settings)) return std::nullopt;
    return settings;
  }

  /// Runs an algorithm of NLopt from the variables and stores its result in them.
  void optimise(nlopt::algorithm algorithm, int evaluations, std::vector<double>& variables) {
    nlopt::opt optimiser(algorithm, static_cast<unsigned>(free_.size()));
    optimiser.set_lower_bounds(low_);
    optimiser.set_upper_bounds(high_);
    optimiser.set_maxeval(evaluations);
    optimiser.set_xtol_abs(kTolerance);
    const nlopt::vfunc worth_of = [](const std::vector<double>& x, std::vector<double>&,
                                     void* self) {
      return static_cast<Variables*>(self)->worth(x);
    };
    optimiser.set_max_objective(worth_of, this);
    double value = 0;
    try {
      optimiser.optimize(variables, value);
    } catch (const nlopt::roundoff_limited&) {
      // The variables hold the best point found.
    }
  }

 private:
  Settings natural(const std::vector<double>& variables) const {
    Settings settings = settings_;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const doe::Factor& factor = request_.factors[free_[i]];
      const double coded = factor.is_categorical() ? std::round(variables[i]) : variables[i];
      settings[free_[i]] = factor.to_natural(coded);
    }
    return settings;
  }

  const OptimumRequest& request_;
  Scorer scorer_;
  doe::Region region_;
  Settings settings_;  ///< natural; held factors keep their values
  std::vector<std::size_t> free_;
  std::vector<double> low_, high_;
};

}  // namespace

std::vector<Settings> globally_searched(const OptimumRequest& request,
                                        const SettingsSearch& search) {
  const std::vector<nlopt::algorithm> algorithms{nlopt::GN_CRS2_LM, nlopt::GN_ESCH};
  std::vector<std::optional<Settings>> found(algorithms.size());
  const auto count = static_cast<int>(algorithms.size());
  parallel_for(count, request.threads, [&](int i) {
    nlopt::srand(1);  // each thread has its own generator
    Variables variables(request, search);
    std::vector<double> at = variables.centre();
    variables.optimise(algorithms[static_cast<std::size_t>(i)], kGlobalEvaluations, at);
    variables.optimise(nlopt::LN_SBPLX, kLocalEvaluations, at);
    found[static_cast<std::size_t>(i)] = variables.snapped(at);
  });
  std::vector<Settings> starts;
  for (const std::optional<Settings>& settings : found) {
    if (settings) starts.push_back(*settings);
  }
  return starts;
}

}  // namespace doetune::surfaces
