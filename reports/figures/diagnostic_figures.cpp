#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/study_tests.h"
#include "reports/figures/figures.h"
#include "surfaces/distributions.h"

namespace doetune::reports {
namespace {

constexpr Chart::Size kSize{330, 280, 62};
constexpr std::size_t kMaxNamed = 5;

/// Coordinates of a scatter plot with one point per run of a fit.
struct Scatter {
  Eigen::VectorXd x, y;
  Axis x_axis, y_axis;
};

Axis axis_over(std::string title, const Eigen::VectorXd& values) {
  return linear_axis(std::move(title), values.minCoeff(), values.maxCoeff());
}

Attributes guide() { return {{"stroke", "currentColor"}, {"stroke-dasharray", "5 4"}}; }

std::string run_title(const analysis::ResponseAnalysis& response, Eigen::Index i) {
  return fmt::format("run {}: {}", response.runs[static_cast<std::size_t>(i)],
                     analysis::with_unit(analysis::short_number(response.fit->observed[i]),
                                         response.response.unit));
}

/// Draws the runs; outliers and influential ones are orange and labelled with their number.
void draw_runs(Chart& chart, const analysis::ResponseAnalysis& response, const Scatter& scatter) {
  std::vector<Eigen::Index> named;
  for (Eigen::Index i = 0; i < scatter.x.size(); ++i) {
    const surfaces::RunInfluence& run = response.diagnostics.runs[static_cast<std::size_t>(i)];
    const Point at{scatter.x[i], scatter.y[i]};
    if (run.outlier || run.influential) {
      named.push_back(i);
    } else {
      chart.circle(at, 4, {{"fill", series_colour(0)}, {"fill-opacity", "0.8"}},
                   run_title(response, i));
    }
  }
  std::vector<Point> written;  // in pixels
  for (const Eigen::Index i : named) {
    const Point at{scatter.x[i], scatter.y[i]};
    chart.circle(at, 4.5, {{"fill", series_colour(1)}}, run_title(response, i));
    const Point position = chart.pixel(at);
    const bool has_space = std::none_of(written.begin(), written.end(), [&](Point other) {
      return std::abs(other.x - position.x) < 22 && std::abs(other.y - position.y) < 12;
    });
    if (!has_space || written.size() == kMaxNamed) continue;
    written.push_back(position);
    chart.tag(at, std::to_string(response.runs[static_cast<std::size_t>(i)]),
              position.x > kSize.width * 0.75 ? -7 : 7);
  }
}

Figure drawn(const analysis::ResponseAnalysis& response, Figure figure, const Scatter& scatter,
             const Polyline& line) {
  Chart chart(figure.name, scatter.x_axis, scatter.y_axis, kSize);
  chart.grid_lines();
  chart.line(line, guide());
  draw_runs(chart, response, scatter);
  figure.svg = chart.finish(figure.title);
  return figure;
}

Figure named(const analysis::ResponseAnalysis& response, const char* kind, std::string title,
             std::string caption) {
  return {fmt::format("{}-{}", kind, file_part(response.response.name)),
          std::move(title),
          std::move(caption),
          {},
          {}};
}

std::string residual_title(const analysis::ResponseAnalysis& response) {
  return analysis::name_with_unit("residual", analysis::fitted_unit(response));
}

Figure predicted_against_observed(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  const std::string& unit = response.response.unit;
  Eigen::VectorXd predicted(fit.n);
  for (int i = 0; i < fit.n; ++i) predicted[i] = back_transformed(fit.transform, fit.fitted[i]);
  const Scatter scatter{fit.observed, predicted,
                        axis_over(analysis::name_with_unit("observed", unit), fit.observed),
                        axis_over(analysis::name_with_unit("predicted", unit), predicted)};
  const double low = std::min(scatter.x_axis.low, scatter.y_axis.low);
  const double high = std::max(scatter.x_axis.high, scatter.y_axis.high);
  return drawn(
      response,
      named(response, "predicted",
            fmt::format("The model explains {} of the variation of {}.",
                        analysis::in_words(analysis::percent(fit.r2)), response.response.name),
            "Predicted against observed; on the dashed line they are equal."),
      scatter, {{low, low}, {high, high}});
}

/// What a test that is significant alone means: `meaning`, unless it is not among the others.
std::string or_chance(double p, const analysis::ResponseAnalysis& response,
                      std::string_view meaning) {
  const std::string chance = analysis::among_tests(p, response.levels.assumptions);
  return chance.empty() ? fmt::format(": {}", meaning) : chance;
}

std::string spread_title(const analysis::ResponseAnalysis& response) {
  const std::optional<surfaces::BreuschPaganTest>& spread = response.diagnostics.spread;
  if (!spread) return "Whether the variance changes with the response cannot be tested.";
  if (spread->p >= surfaces::kSignificant) {
    return fmt::format("There is no sign that the variance changes with the response ({}).",
                       analysis::p_words(spread->p));
  }
  const surfaces::Transform& transform = response.fit->transform;
  return fmt::format("The variance {}{} with the response ({}){}.",
                     spread->grows ? "grows" : "falls", analysis::scale_words(transform),
                     analysis::p_words(spread->p),
                     or_chance(spread->p, response,
                               transform == surfaces::Transform::kNone ? "transform it"
                                                                       : "try another transform"));
}

Figure residuals_against_fitted(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  const Scatter scatter{
      fit.fitted, fit.residuals,
      axis_over(analysis::name_with_unit("fitted " + analysis::fitted_quantity(response),
                                         analysis::fitted_unit(response)),
                fit.fitted),
      axis_over(residual_title(response), fit.residuals)};
  return drawn(response,
               named(response, "residuals-fitted", spread_title(response),
                     "Residuals against fitted values: a funnel shape suggests a transform, a "
                     "curve suggests more terms."),
               scatter, {{scatter.x_axis.low, 0}, {scatter.x_axis.high, 0}});
}

std::string drift_title(const analysis::ResponseAnalysis& response) {
  const std::optional<surfaces::DriftTest>& drift = response.diagnostics.drift;
  if (!drift) return "Residuals by run number; drift cannot be tested.";
  const std::string p = analysis::p_words(drift->p);
  if (drift->p >= surfaces::kSignificant)
    return fmt::format("Residuals show no drift in run order ({}).", p);
  return fmt::format("Residuals {} in run order ({}){}.", drift->slope > 0 ? "rise" : "fall", p,
                     or_chance(drift->p, response, "the system drifted"));
}

Eigen::VectorXd run_numbers(const analysis::ResponseAnalysis& response) {
  return Eigen::Map<const Eigen::VectorXi>(response.runs.data(), response.fit->n).cast<double>();
}

Figure residuals_in_run_order(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  const Eigen::VectorXd runs = run_numbers(response);
  const Scatter scatter{runs, fit.residuals, axis_over("run", runs),
                        axis_over(residual_title(response), fit.residuals)};
  return drawn(response,
               named(response, "residuals", drift_title(response),
                     "Observed minus fitted " + analysis::fitted_quantity(response) +
                         ", in the order in which the runs were made."),
               scatter, {{scatter.x_axis.low, 0}, {scatter.x_axis.high, 0}});
}

std::vector<int> picked(const analysis::ResponseAnalysis& response,
                        bool surfaces::RunInfluence::*mark) {
  std::vector<int> runs;
  for (std::size_t i = 0; i < response.runs.size(); ++i) {
    if (response.diagnostics.runs[i].*mark) runs.push_back(response.runs[i]);
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

std::string outlier_title(const analysis::ResponseAnalysis& response) {
  const std::vector<int> runs = picked(response, &surfaces::RunInfluence::outlier);
  if (runs.empty()) return "No run lies farther from the surface than chance explains.";
  const double p = analysis::p_of_outliers(response).value_or(0);
  if (!analysis::among_tests(p, response.levels.assumptions).empty()) {
    return fmt::format(
        "{} {} farthest from the surface; among all tests of the study chance explains "
        "it ({}).",
        analysis::capitalised(analysis::runs_text(runs)), runs.size() == 1 ? "lies" : "lie",
        analysis::p_words(p));
  }
  return fmt::format("Look at {}: chance does not explain its residual.",
                     analysis::runs_text(runs));
}

/// Normal plot of studentised residuals. Source: Blom (1958) plotting positions, (i - 3/8) / (n +
/// 1/4).
Figure normal_plot(const analysis::ResponseAnalysis& response) {
  const Eigen::VectorXd& r = response.fit->studentised_residuals;
  const double n = static_cast<double>(r.size());
  std::vector<Eigen::Index> order(static_cast<std::size_t>(r.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return r[a] < r[b]; });
  Eigen::VectorXd quantiles(r.size());
  double position = 0;
  for (const Eigen::Index i : order) {
    quantiles[i] = surfaces::normal_value((++position - 0.375) / (n + 0.25));
  }
  const Scatter scatter{quantiles, r, axis_over("normal quantile", quantiles),
                        axis_over("studentised residual", r)};
  return drawn(response,
               named(response, "normal", outlier_title(response),
                     "Normal probability plot: normally distributed studentised residuals follow "
                     "the dashed line."),
               scatter, {{-9, -9}, {9, 9}});
}

std::string influence_title(const analysis::ResponseAnalysis& response,
                            const Eigen::VectorXd& distances) {
  const std::vector<int> runs = picked(response, &surfaces::RunInfluence::influential);
  if (!runs.empty()) {
    return analysis::capitalised(fmt::format(
        "{} {} the surface more than one run should: measure {} again.", analysis::runs_text(runs),
        runs.size() == 1 ? "influences" : "each influence", runs.size() == 1 ? "it" : "them"));
  }
  Eigen::Index index_of_largest = 0;
  const double largest = distances.maxCoeff(&index_of_largest);
  return fmt::format(
      "No single run dominates the surface; run {} has the largest influence (Cook's distance "
      "{:.2g}).",
      response.runs[static_cast<std::size_t>(index_of_largest)], largest);
}

Figure influence_figure(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  Eigen::VectorXd distances = Eigen::VectorXd::Zero(fit.n);
  for (int i = 0; i < fit.n; ++i) {
    distances[i] =
        response.diagnostics.runs[static_cast<std::size_t>(i)].cooks_distance.value_or(0);
  }
  const Eigen::VectorXd runs = run_numbers(response);
  Scatter scatter{runs, distances, axis_over("run", runs),
                  linear_axis("Cook's distance", 0, distances.maxCoeff())};
  return drawn(response,
               named(response, "influence", influence_title(response, distances),
                     "Cook's distance: how much all fitted values change without the run. Orange: "
                     "outliers, and runs beyond the median of the F distribution."),
               scatter, {});
}

/// Whether the power of a transform is in the profile's confidence interval; false for transforms
/// that are not powers.
bool suits(const surfaces::BoxCox& profile, const surfaces::Transform& transform) {
  using Kind = surfaces::Transform::Kind;
  const auto holds = [&](double power) {
    return profile.interval.low <= power && power <= profile.interval.high;
  };
  switch (transform.kind) {
    case Kind::kLog:
      return holds(0);
    case Kind::kSqrt:
      return holds(0.5);
    case Kind::kInverse:
      return holds(-1);
    case Kind::kPower:
      return holds(transform.lambda);
    default:
      return false;
  }
}

std::string box_cox_title(const analysis::ResponseAnalysis& response) {
  const surfaces::BoxCox& profile = *response.box_cox;
  const double half = analysis::half_width(profile.interval);
  const std::string power = fmt::format("{} (95 % {})", analysis::number_to(profile.lambda, half),
                                        analysis::interval_text(profile.interval));
  const surfaces::Transform& taken = response.fit->transform;
  const bool is_none = taken == surfaces::Transform::kNone;
  if (profile.suggestion == taken || (!is_none && suits(profile, taken))) {
    return is_none ? fmt::format("{} needs no transform: the best power is {}, and 1 means none.",
                                 response.response.name, power)
                   : fmt::format("The transform {} is suitable: the best power is {}.",
                                 surfaces::transform_name(taken), power);
  }
  if (profile.suggestion == surfaces::Transform::kNone) {
    return fmt::format(
        "The runs suggest no transform instead of {}: the best power is {}, and 1 means none.",
        surfaces::transform_name(taken), power);
  }
  return fmt::format("The transform {} would be better for {}: the best power is {}.",
                     surfaces::transform_name(profile.suggestion), response.response.name, power);
}

Figure box_cox_figure(const analysis::ResponseAnalysis& response) {
  constexpr double kDepth = 8;  // depth of the profile shown, in units of the interval's drop
  const surfaces::BoxCox& profile = *response.box_cox;
  const double drop = surfaces::chi_squared_quantile(0.95, 1) / 2;
  Figure figure =
      named(response, "box-cox", box_cox_title(response),
            "Box-Cox profile: the log-likelihood of each power of the response, relative to the "
            "maximum. Shaded: the 95 % interval; dotted: 1, no transform.");
  const Axis x = linear_axis("power", -2, 2);
  Polyline curve;
  for (std::size_t i = 0; i < profile.lambdas.size(); ++i) {
    curve.push_back({profile.lambdas[i], profile.log_likelihood[i] - profile.highest});
  }
  double lowest = 0;
  for (const Point& p : curve) lowest = std::min(lowest, p.y);
  const Axis y = linear_axis("log-likelihood", std::max(lowest, -kDepth * drop), 0);
  Chart chart(figure.name, x, y, kSize);
  chart.grid_lines();
  const double low = std::max(profile.interval.low, x.low);
  const double high = std::min(profile.interval.high, x.high);
  if (low < high) {
    chart.region({{{low, y.low}, {high, y.low}, {high, y.high}, {low, y.high}}},
                 {{"fill", series_colour(0)}, {"fill-opacity", "0.18"}});
  }
  chart.line({{x.low, -drop}, {x.high, -drop}}, guide());
  chart.line({{1, y.low}, {1, y.high}}, {{"stroke", "currentColor"}, {"stroke-dasharray", "2 3"}});
  chart.curve(curve, "log-likelihood", {{"stroke", series_colour(0)}, {"stroke-width", "2.2"}});
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> diagnostic_figures(const analysis::ResponseAnalysis& response) {
  std::vector<Figure> figures;
  const bool has_error = response.fit && response.fit->sigma && *response.fit->sigma > 0;
  if (has_error) {
    for (const auto& figure : {predicted_against_observed, residuals_against_fitted,
                               residuals_in_run_order, normal_plot, influence_figure}) {
      figures.push_back(figure(response));
    }
  }
  if (response.fit && response.box_cox) figures.push_back(box_cox_figure(response));
  return figures;
}

}  // namespace doetune::reports
