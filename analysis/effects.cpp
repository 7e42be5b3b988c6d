#include "analysis/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/study_tests.h"
#include "surfaces/distributions.h"

namespace doetune::analysis {

namespace {

constexpr double kEffectLevel = 0.95;
constexpr std::size_t kMaxNamedTerms = 5;

bool excludes_zero(const std::optional<surfaces::Interval>& interval) {
  return interval && (interval->low > 0 || interval->high < 0);
}

void sort_by_size(std::vector<Effect>& effects) {
  std::stable_sort(effects.begin(), effects.end(), [](const Effect& a, const Effect& b) {
    return std::abs(a.estimate) > std::abs(b.estimate);
  });
}

std::string named(const std::vector<std::string>& terms) {
  if (terms.size() <= kMaxNamedTerms) return fmt::format("{}", fmt::join(terms, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(terms.begin(), terms.begin() + kMaxNamedTerms, ", "),
                     terms.size() - kMaxNamedTerms);
}

/// The conclusion without an error estimate, by Lenth's method.
std::string saturated_conclusion(const surfaces::Fit& fit, const std::string& name) {
  const auto saturated = saturated_effects(fit);
  if (!saturated) {
    return fmt::format("The error of {} cannot be estimated, so no term can be tested.", name);
  }
  const std::vector<std::string> beyond = saturated->beyond(saturated->margins.margin);
  if (beyond.empty()) {
    return fmt::format("No term of {} is significant (Lenth's margin of error).", name);
  }
  return fmt::format("{} {} significant among the {} terms of {} (Lenth's margin of error).",
                     named(beyond), beyond.size() == 1 ? "is" : "are", saturated->effects.size(),
                     name);
}

}  // namespace

bool Effect::is_clear() const { return excludes_zero(interval); }
bool Effect::is_certain() const { return excludes_zero(joint_interval); }

double t_quantile_95(double df) {
  return surfaces::Prediction{0, 1, 0, df, surfaces::Transform::kNone}.confidence_interval()->high;
}

std::vector<Effect> effects_of(const surfaces::Fit& fit) {
  const double terms = static_cast<double>(fit.coefficients.size()) - (fit.has_intercept() ? 1 : 0);
  std::vector<Effect> effects;
  for (const surfaces::Coefficient& coefficient : fit.coefficients) {
    if (coefficient.term == "1") continue;
    Effect effect{
        coefficient.term, coefficient.estimate, {}, {}, coefficient.std_error, coefficient.t,
        coefficient.p,    coefficient.vif};
    if (effect.std_error && coefficient.df) {
      const auto interval = [&](double level) {
        const double half = surfaces::t_quantile(level, *coefficient.df) * *effect.std_error;
        return surfaces::Interval{effect.estimate - half, effect.estimate + half};
      };
      effect.interval = interval(kEffectLevel);
      effect.joint_interval = interval(1 - (1 - kEffectLevel) / terms);
    }
    effects.push_back(std::move(effect));
  }
  sort_by_size(effects);
  return effects;
}

std::vector<std::string> SaturatedEffects::beyond(double margin) const {
  std::vector<std::string> terms;
  for (const Effect& effect : effects) {
    if (std::abs(effect.estimate) > margin) terms.push_back(effect.term);
  }
  return terms;
}

std::optional<SaturatedEffects> saturated_effects(const surfaces::Fit& fit) {
  if (fit.df_residual > 0) return std::nullopt;
  SaturatedEffects saturated;
  for (std::size_t i = 0; i < fit.coefficients.size(); ++i) {
    if (fit.coefficients[i].term == "1") continue;
    const auto column = static_cast<Eigen::Index>(i);
    const double variance = fit.n * fit.unscaled_covariance(column, column);
    Effect& effect = saturated.effects.emplace_back();
    effect.term = fit.coefficients[i].term;
    effect.estimate = fit.coefficients[i].estimate / std::sqrt(variance);
  }
  sort_by_size(saturated.effects);
  Eigen::VectorXd sizes(saturated.effects.size());
  for (std::size_t i = 0; i < saturated.effects.size(); ++i) {
    sizes[static_cast<Eigen::Index>(i)] = saturated.effects[i].estimate;
  }
  const auto margins = surfaces::lenth_margins(sizes);
  if (!margins) return std::nullopt;
  saturated.margins = *margins;
  return saturated;
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

bool varies(const surfaces::Fit& fit) { return fit.observed.maxCoeff() > fit.observed.minCoeff(); }

std::string effects_conclusion(const ResponseAnalysis& response) {
  const std::vector<Effect> effects = effects_of(*response.fit);
  const std::string name = fitted_quantity(response);
  if (!varies(*response.fit)) {
    return fmt::format("{} was the same in all runs, so no term has an effect.",
                       response.response.name);
  }
  if (std::none_of(effects.begin(), effects.end(), [](const Effect& e) { return e.interval; })) {
    return saturated_conclusion(*response.fit, name);
  }
  if (const auto idle = p_without_effect(*response.fit, response.levels.surface)) {
    return fmt::format("No factor is shown to have an effect on {} ({}).", name, p_words(*idle));
  }
  const auto clear =
      std::count_if(effects.begin(), effects.end(), [](const Effect& e) { return e.is_clear(); });
  if (clear == 0) return fmt::format("No term has a significant effect on {}.", name);
  const Effect& first =
      *std::find_if(effects.begin(), effects.end(), [](const Effect& e) { return e.is_clear(); });
  const double half = half_width(first.interval);
  return fmt::format("{} has the largest effect on {}: {}{} ({}); {} of {} terms are significant.",
                     first.term, name, first.estimate > 0 ? "+" : "",
                     with_unit(number_to(first.estimate, half), fitted_unit(response)),
                     interval_text(*first.interval), clear, effects.size());
}

}  // namespace doetune::analysis
