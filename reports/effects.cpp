#include "reports/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/format.h"

namespace doetune::reports {

bool Effect::is_clear() const { return interval && (interval->low > 0 || interval->high < 0); }

double t_quantile_95(double df) {
  return surfaces::Prediction{0, 1, 0, df, surfaces::Transform::kNone}.confidence_interval()->high;
}

std::vector<Effect> effects_of(const surfaces::Fit& fit) {
  std::vector<Effect> effects;
  for (const surfaces::Coefficient& coefficient : fit.coefficients) {
    if (coefficient.term == "1") continue;
    Effect effect{coefficient.term, coefficient.estimate, {}, coefficient.std_error, coefficient.t,
                  coefficient.p,    coefficient.vif};
    if (effect.std_error && coefficient.df) {
      const double half = t_quantile_95(*coefficient.df) * *effect.std_error;
      effect.interval = {effect.estimate - half, effect.estimate + half};
    }
    effects.push_back(std::move(effect));
  }
  std::stable_sort(effects.begin(), effects.end(), [](const Effect& a, const Effect& b) {
    return std::abs(a.estimate) > std::abs(b.estimate);
  });
  return effects;
}

std::string fitted_quantity(const ResponseAnalysis& response) {
  const std::string& name = response.response.name;
  using Kind = surfaces::Transform::Kind;
  const surfaces::Transform& transform = response.fit->transform;
  switch (transform.kind) {
    case Kind::kNone:
      return name;
    case Kind::kLog:
      return "ln(" + name + ")";
    case Kind::kSqrt:
      return "sqrt(" + name + ")";
    case Kind::kInverse:
      return "1/" + name;
    case Kind::kLogit:
      return "logit(" + name + ")";
    case Kind::kPower:
      return fmt::format("({}^{:.4g} - 1)/{:.4g}", name, transform.lambda, transform.lambda);
  }
  return name;
}

std::string fitted_unit(const ResponseAnalysis& response) {
  return response.fit->transform == surfaces::Transform::kNone ? response.response.unit : "";
}

std::string effects_conclusion(const ResponseAnalysis& response) {
  const std::vector<Effect> effects = effects_of(*response.fit);
  const std::string name = fitted_quantity(response);
  const auto clear =
      std::count_if(effects.begin(), effects.end(), [](const Effect& e) { return e.is_clear(); });
  if (clear == 0)
    return fmt::format("No term moves {} clearly more than the scatter of runs.", name);
  const Effect& first =
      *std::find_if(effects.begin(), effects.end(), [](const Effect& e) { return e.is_clear(); });
  const double half = (first.interval->high - first.interval->low) / 2;
  return fmt::format("{} moves {} most: {}{} ({}); {} of {} terms stand clear of the scatter.",
                     first.term, name, first.estimate > 0 ? "+" : "",
                     with_unit(number_to(first.estimate, half), fitted_unit(response)),
                     interval_text(*first.interval), clear, effects.size());
}

}  // namespace doetune::reports
