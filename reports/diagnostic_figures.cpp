#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "reports/effects.h"
#include "reports/figures.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

const Chart::Size kSize{330, 280, 62};

struct Range {
  double low = 0;
  double high = 0;
};

Range range_of(const Eigen::VectorXd& values) { return {values.minCoeff(), values.maxCoeff()}; }

Attributes dot() {
  return {{"fill", series_colour(0)}, {"fill-opacity", "0.8"}, {"stroke", "#fff"}};
}

Attributes guide() { return {{"stroke", "currentColor"}, {"stroke-dasharray", "5 4"}}; }

std::string run_title(const ResponseAnalysis& response, Eigen::Index i) {
  return fmt::format("run {}: {}", response.runs[static_cast<std::size_t>(i)],
                     with_unit(short_number(response.fit->observed[i]), response.response.unit));
}

Figure named(const ResponseAnalysis& response, const char* kind) {
  Figure figure;
  figure.name = fmt::format("{}-{}", kind, file_part(response.response.name));
  return figure;
}

Figure predicted_against_observed(const ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  Eigen::VectorXd predicted(fit.n);
  for (int i = 0; i < fit.n; ++i) predicted[i] = back_transformed(fit.transform, fit.fitted[i]);
  const Range x = range_of(fit.observed);
  const Range y = range_of(predicted);
  Figure figure = named(response, "predicted");
  figure.title = fmt::format("The model explains {} of the variation of {}.", percent(fit.r2),
                             response.response.name);
  figure.caption = "Predicted against observed; on the dashed line both agree.";
  const std::string& unit = response.response.unit;
  Chart chart(figure.name, linear_axis(name_with_unit("observed", unit), x.low, x.high),
              linear_axis(name_with_unit("predicted", unit), y.low, y.high), kSize);
  chart.grid_lines();
  const double low = std::min(x.low, y.low), high = std::max(x.high, y.high), room = high - low;
  chart.line({{low - room, low - room}, {high + room, high + room}}, guide());
  for (Eigen::Index i = 0; i < fit.n; ++i) {
    chart.circle({fit.observed[i], predicted[i]}, 4.5, dot(), run_title(response, i));
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

std::string drift_title(const std::optional<surfaces::DriftTest>& drift) {
  if (!drift) return "Residuals by run number; whether they drifted cannot be tested.";
  const std::string p = p_words(drift->p);
  if (drift->p >= 0.05) return fmt::format("Residuals show no drift in run order ({}).", p);
  return fmt::format("Residuals {} in run order ({}): something drifted.",
                     drift->slope > 0 ? "rise" : "fall", p);
}

Figure residuals_in_run_order(const ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  Figure figure = named(response, "residuals");
  figure.title = drift_title(response.diagnostics.drift);
  figure.caption =
      "Observed less fitted " + fitted_quantity(response) + ", in the order the runs were made.";
  const Range y = range_of(fit.residuals);
  const auto [first, last] = std::minmax_element(response.runs.begin(), response.runs.end());
  Chart chart(figure.name, linear_axis("run", *first, *last),
              linear_axis(name_with_unit("residual", fitted_unit(response)), y.low, y.high), kSize);
  chart.grid_lines();
  chart.line({{-1e6, 0}, {1e6, 0}}, guide());
  for (Eigen::Index i = 0; i < fit.n; ++i) {
    chart.circle(
        {static_cast<double>(response.runs[static_cast<std::size_t>(i)]), fit.residuals[i]}, 4.5,
        dot(), run_title(response, i));
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

/// Runs in ascending order of their studentised residual.
std::vector<Eigen::Index> ascending(const Eigen::VectorXd& values) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return values[a] < values[b]; });
  return order;
}

std::string outlier_title(const ResponseAnalysis& response) {
  std::string runs;
  for (std::size_t i = 0; i < response.runs.size(); ++i) {
    if (!response.diagnostics.runs[i].outlier) continue;
    runs += fmt::format("{}{}", runs.empty() ? "" : ", ", response.runs[i]);
  }
  if (runs.empty()) return "No run lies farther from the surface than chance explains.";
  return fmt::format("Look at run {}: chance does not explain its residual.", runs);
}

/// Source: Blom (1958) plotting positions, (i - 3/8) / (n + 1/4).
Figure normal_plot(const ResponseAnalysis& response) {
  const Eigen::VectorXd& r = response.fit->studentised_residuals;
  const double n = static_cast<double>(r.size());
  const boost::math::normal normal;
  const auto quantile = [&](double i) {
    return boost::math::quantile(normal, (i - 0.375) / (n + 0.25));
  };
  const Range y = range_of(r);
  Figure figure = named(response, "normal");
  figure.title = outlier_title(response);
  figure.caption = "Normal plot: studentised residuals of normal scatter follow the dashed line.";
  Chart chart(figure.name, linear_axis("normal quantile", quantile(1), quantile(n)),
              linear_axis("studentised residual", y.low, y.high), kSize);
  chart.grid_lines();
  chart.line({{-9, -9}, {9, 9}}, guide());
  double place = 0;
  for (const Eigen::Index i : ascending(r)) {
    chart.circle({quantile(++place), r[i]}, 4.5, dot(), run_title(response, i));
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> diagnostic_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (!response.fit || response.fit->df_residual == 0) continue;
    figures.push_back(predicted_against_observed(response));
    figures.push_back(residuals_in_run_order(response));
    figures.push_back(normal_plot(response));
  }
  return figures;
}

}  // namespace doetune::reports
