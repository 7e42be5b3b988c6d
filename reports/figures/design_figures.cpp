#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "analysis/design_quality.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "reports/figures/axes.h"
#include "reports/figures/figures.h"
#include "study/tables/csv.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxTerms = 20, kMaxColumns = 24, kManyRuns = 200;
constexpr double kEnoughPower = 0.8, kHighLeverage = 0.9, kWholeLeverage = 1 - 1e-10;

double error_at(const std::vector<double>& variances, double fraction) {
  const double last = static_cast<double>(variances.size()) - 1;
  return std::sqrt(variances[static_cast<std::size_t>(std::lround(fraction * last))]);
}

/// Fraction of design space plot. Source: Zahran, Anderson-Cook & Myers (2003), Journal of Quality
/// Technology 35, 377.
Figure fraction_figure(const doe::FullEvaluation& evaluation, bool has_whole_plots) {
  const std::vector<double>& variances = evaluation.variance_quantiles;
  Figure figure;
  figure.name = "design-space-fraction";
  figure.title = fmt::format(
      "In half of the region the standard error of the mean is at most {} of a run's standard "
      "deviation, in 90 % at most {}.",
      analysis::number_to(error_at(variances, 0.5), 0.1),
      analysis::number_to(error_at(variances, 0.9), 0.1));
  figure.caption =
      "Fraction of design space: the fraction of the region in which predicted means have at most "
      "this standard error, in standard deviations of a run. Low and flat is good.";
  if (has_whole_plots) figure.caption += " Whole plots are not taken into account.";
  Polyline curve;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    curve.push_back({static_cast<double>(i) / (static_cast<double>(variances.size()) - 1),
                     std::sqrt(variances[i])});
  }
  const Axis x{"fraction of the region",
               0,
               1,
               {{0, "0"}, {0.25, "25 %"}, {0.5, "50 %"}, {0.75, "75 %"}, {1, "100 %"}}};
  Axis y = linear_axis("standard error of the mean", 0, curve.back().y);
  y.low = 0;
  Chart chart(figure.name, x, y);
  chart.grid_lines();
  chart.curve(curve, "standard error", {{"stroke", series_colour(0)}, {"stroke-width", "2.2"}});
  figure.svg = chart.finish(figure.title);
  return figure;
}

std::string leverage_title(const analysis::DesignQuality& quality, double high) {
  const std::vector<double>& leverages = quality.shown().leverages;
  std::vector<int> above;
  for (std::size_t i = 0; i < leverages.size(); ++i) {
    if (leverages[i] > high) above.push_back(quality.runs[i]);
  }
  if (*std::min_element(leverages.begin(), leverages.end()) > kWholeLeverage) {
    return "Every run has leverage 1: the surface passes exactly through all runs, including any "
           "wrong ones.";
  }
  if (above.empty()) {
    const double largest = *std::max_element(leverages.begin(), leverages.end());
    std::vector<int> those;
    for (std::size_t i = 0; i < leverages.size(); ++i) {
      if (leverages[i] > largest - 1e-9) those.push_back(quality.runs[i]);
    }
    return fmt::format("No run has unusually high leverage: the highest is {:.2f}, of {}.", largest,
                       analysis::runs_text(those));
  }
  return fmt::format("The surface depends most on {}: an error there is hardest to detect.",
                     analysis::runs_text(above));
}

Figure leverage_figure(const analysis::DesignQuality& quality) {
  const doe::FullEvaluation& evaluation = quality.shown();
  const std::vector<double>& leverages = evaluation.leverages;
  const double twice = 2.0 * evaluation.basics.terms / evaluation.basics.runs;
  Figure figure;
  figure.name = "design-leverage";
  figure.title = leverage_title(quality, std::min(twice, kHighLeverage));
  figure.caption = fmt::format(
      "Leverage of each run: the weight of its own response in its fitted value; at 1 the fit "
      "passes exactly through it.{}",
      twice < 1 ? fmt::format(" Dashed: twice the average, {:.2f}.", twice) : "");
  Axis x = linear_axis("run", quality.runs.front(), quality.runs.back());
  Axis y = linear_axis("leverage", 0, 1, 0.02);
  Chart chart(figure.name, x, y);
  chart.grid_lines();
  if (twice < 1) {
    chart.line({{x.low, twice}, {x.high, twice}},
               {{"stroke", "currentColor"}, {"stroke-dasharray", "5 4"}});
  }
  for (std::size_t i = 0; i < leverages.size(); ++i) {
    const Point at{static_cast<double>(quality.runs[i]), leverages[i]};
    if (leverages.size() <= kManyRuns) chart.line({{at.x, 0}, at}, {{"stroke", series_colour(0)}});
    chart.circle(at, 3.5, {{"fill", series_colour(0)}},
                 fmt::format("run {}: {}", quality.runs[i], analysis::short_number(leverages[i])));
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

/// The columns most correlated with others, in model order.
std::vector<Eigen::Index> max_alike(const Eigen::MatrixXd& correlations) {
  Eigen::MatrixXd others = correlations;
  others.diagonal().setZero();
  const Eigen::VectorXd strongest = others.rowwise().maxCoeff();
  std::vector<Eigen::Index> order(static_cast<std::size_t>(strongest.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return strongest[a] > strongest[b]; });
  if (order.size() > kMaxColumns) order.resize(kMaxColumns);
  std::sort(order.begin(), order.end());
  return order;
}

/// The most correlated model terms; model columns are the first `columns` of the map.
std::string correlation_title(const doe::NamedMatrix& map, Eigen::Index columns) {
  Eigen::MatrixXd own = map.values.topLeftCorner(columns, columns);
  own.diagonal().setZero();
  Eigen::Index i = 0, j = 0;
  const double largest = own.maxCoeff(&i, &j);
  if (largest < 0.005) return "All terms of the model are uncorrelated.";
  return fmt::format("The most correlated terms of the model are {} and {}: {:.2f}.",
                     map.rows[static_cast<std::size_t>(std::min(i, j))],
                     map.rows[static_cast<std::size_t>(std::max(i, j))], largest);
}

/// Opacity for |correlation| in steps of a fifth, rounded up, so that 0.01 is visible.
std::string shade(int fifth) {
  static constexpr std::array<const char*, 5> kShades = {"0.12", "0.3", "0.5", "0.75", "1"};
  return kShades[static_cast<std::size_t>(fifth)];
}

void draw_cells(Chart& chart, const Eigen::MatrixXd& values,
                const std::vector<Eigen::Index>& kept) {
  const double n = static_cast<double>(kept.size());
  for (int fifth = 0; fifth < 5; ++fifth) {
    std::vector<Polyline> cells;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double value = values(kept[i], kept[j]);
        if (value < 0.005 || std::min(4, static_cast<int>(value * 5)) != fifth) continue;
        const double x = static_cast<double>(j), y = n - 1 - static_cast<double>(i);
        cells.push_back(
            {{x - 0.5, y - 0.5}, {x + 0.5, y - 0.5}, {x + 0.5, y + 0.5}, {x - 0.5, y + 0.5}});
      }
    }
    chart.region(cells, {{"fill", series_colour(0)}, {"fill-opacity", shade(fifth)}});
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < i && kept.size() <= 14; ++j) {
      const double value = values(kept[i], kept[j]);
      if (value < 0.005) continue;
      chart.tag({static_cast<double>(j), n - 1 - static_cast<double>(i)},
                fmt::format("{:.2f}", value), 0);
    }
  }
}

/// The number of model columns in the map, which omits constant ones.
Eigen::Index own_columns(const doe::NamedMatrix& map, const doe::Model& model) {
  Eigen::Index own = 0;
  for (const doe::ModelColumn& column : model.columns()) {
    if (std::find(map.rows.begin(), map.rows.end(), column.name) != map.rows.end()) ++own;
  }
  return own;
}

std::string correlation_csv(const doe::NamedMatrix& map, const std::vector<Eigen::Index>& kept) {
  std::string csv = study::csv_row({"term", "other", "correlation"});
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      csv += study::csv_row({map.rows[static_cast<std::size_t>(kept[i])],
                             map.rows[static_cast<std::size_t>(kept[j])],
                             analysis::exact_number(map.values(kept[i], kept[j]))});
    }
  }
  return csv;
}

Figure correlation_figure(const analysis::Analysis& analysis, const doe::NamedMatrix& map) {
  const Eigen::Index own = own_columns(map, analysis.directory->study.model);
  const std::vector<Eigen::Index> kept = max_alike(map.values);
  Figure figure;
  figure.name = "design-correlation";
  figure.title = correlation_title(map, own);
  figure.caption =
      "Absolute correlation between two columns of the model matrix: the darker, the harder to "
      "separate their effects; empty is none.";
  if (own < map.values.rows()) figure.caption += " In brackets: not in the model.";
  if (kept.size() < map.rows.size()) {
    figure.caption += fmt::format(" The {} of {} columns with the highest correlations.",
                                  kept.size(), map.rows.size());
  }
  std::vector<std::string> names;
  for (const Eigen::Index column : kept) {
    const std::string& name = map.rows[static_cast<std::size_t>(column)];
    names.push_back(column < own ? name : "(" + name + ")");
  }
  Axis y = row_axis(names);
  const double n = static_cast<double>(names.size());
  y.low = -0.5;
  y.high = n - 0.5;
  const Chart::Size chart_size = size_of_rows(y);
  // Column names are on the diagonal, one to the right of the last cell of each row.
  const Axis x{"", -0.5, n + 2.5, {}};
  Chart chart(figure.name, x, y, {chart_size.left + 34 * (n + 3), 62 + 22 * n, chart_size.left});
  draw_cells(chart, map.values, kept);
  chart.carry(correlation_csv(map, kept));
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    chart.tag({static_cast<double>(i) - 0.5, n - 1 - static_cast<double>(i)}, names[i], 4);
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

/// Terms with a known power, weakest first.
std::vector<doe::TermPower> weakest_first(const std::vector<doe::TermPower>& powers) {
  std::vector<doe::TermPower> known;
  for (const doe::TermPower& term : powers) {
    if (term.power && std::isfinite(*term.power)) known.push_back(term);
  }
  std::stable_sort(known.begin(), known.end(),
                   [](const auto& a, const auto& b) { return *a.power < *b.power; });
  return known;
}

std::string power_title(const std::vector<doe::TermPower>& terms) {
  const auto weak = std::count_if(terms.begin(), terms.end(), [](const doe::TermPower& term) {
    return *term.power < kEnoughPower;
  });
  if (weak == 0) {
    const std::string lowest = analysis::percent(*terms.front().power);
    return fmt::format(
        "Every term as large as a run's standard deviation would be detected: the power is {}{}.",
        lowest, lowest == "100 %" ? "" : " or more");
  }
  return fmt::format(
      "{} of {} terms may be missed even if they are as large as a run's standard deviation: the "
      "power for {} is {}.",
      weak, terms.size(), terms.front().term, analysis::percent(*terms.front().power));
}

Figure power_figure(std::vector<doe::TermPower> terms) {
  Figure figure;
  figure.name = "design-power";
  figure.title = power_title(terms);
  figure.caption =
      "Power: the probability of detecting, at the 5 % level, a term whose coefficient is one "
      "standard deviation of a run (two from low to high). Dashed: 80 %.";
  if (terms.size() > kMaxTerms) {
    figure.caption += fmt::format(" The {} weakest of {} terms.", kMaxTerms, terms.size());
    terms.resize(kMaxTerms);
  }
  std::vector<std::string> names;
  for (const doe::TermPower& term : terms) names.push_back(term.term);
  const Axis y = row_axis(names);
  const Axis x{
      "power",
      0,
      1.02,
      {{0, "0"}, {0.2, "20 %"}, {0.4, "40 %"}, {0.6, "60 %"}, {0.8, "80 %"}, {1, "100 %"}}};
  Chart chart(figure.name, x, y, size_of_rows(y));
  chart.grid_lines();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double row = y.ticks[i].at, power = *terms[i].power;
    const std::string colour = series_colour(power < kEnoughPower ? 1 : 0);
    chart.line({{0, row}, {power, row}}, {{"stroke", colour}, {"stroke-width", "3"}});
    chart.circle({power, row}, 5, {{"fill", colour}},
                 fmt::format("{}: {}", terms[i].term, analysis::percent(power)));
  }
  chart.line({{kEnoughPower, y.low}, {kEnoughPower, y.high}},
             {{"stroke", "currentColor"}, {"stroke-dasharray", "5 4"}});
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> design_figures(const analysis::Analysis& analysis,
                                   const analysis::DesignQuality& quality) {
  const doe::FullEvaluation& evaluation = quality.shown();
  std::vector<Figure> figures;
  if (!evaluation.variance_quantiles.empty()) {
    figures.push_back(fraction_figure(evaluation, quality.has_whole_plots));
  }
  if (!evaluation.leverages.empty()) figures.push_back(leverage_figure(quality));
  std::vector<doe::TermPower> powers = weakest_first(evaluation.powers);
  if (!powers.empty()) figures.push_back(power_figure(std::move(powers)));
  if (evaluation.correlation.rows.size() > 1 &&
      own_columns(evaluation.correlation, analysis.directory->study.model) > 1) {
    figures.push_back(correlation_figure(analysis, evaluation.correlation));
  }
  return figures;
}

}  // namespace doetune::reports
