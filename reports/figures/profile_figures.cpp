#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"
#include "reports/figures/allowed.h"
#include "reports/figures/axes.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr double kWidth = 230;
constexpr double kHeight = 220;
constexpr std::size_t kMaxCharts = 12;

struct Profile {
  std::vector<double> at;  ///< coded
  std::vector<double> mean;
  std::vector<std::optional<surfaces::Interval>> interval;
  std::vector<bool> allowed;
};

Profile profile_along(const analysis::Analysis& analysis,
                      const analysis::ResponseAnalysis& response, const analysis::Reference& at,
                      int f, Eigen::VectorXd point) {
  const doe::Factor& factor = analysis::factors_of(analysis)[f];
  Profile profile;
  const std::vector<double> positions = coded_positions(factor, point[f]);
  profile.allowed = allowed_along(analysis, at, {f}, f, point, positions);
  for (const double position : positions) {
    point[f] = position;
    const surfaces::Prediction prediction = response.drawn()->predict(point);
    profile.at.push_back(position);
    profile.mean.push_back(prediction.response());
    profile.interval.push_back(prediction.confidence_interval());
  }
  return profile;
}

/// The indices of the lowest and the highest mean at allowed settings; empty if there are none.
std::optional<std::pair<std::size_t, std::size_t>> ends_of(const Profile& profile) {
  std::vector<std::size_t> allowed;
  for (std::size_t i = 0; i < profile.mean.size(); ++i) {
    if (profile.allowed[i]) allowed.push_back(i);
  }
  if (allowed.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(
      allowed.begin(), allowed.end(),
      [&](std::size_t a, std::size_t b) { return profile.mean[a] < profile.mean[b]; });
  return std::pair(*low, *high);
}

/// The change of the mean over allowed settings.
double change(const Profile& profile) {
  const auto ends = ends_of(profile);
  return ends ? profile.mean[ends->second] - profile.mean[ends->first] : 0;
}

/// The change of the mean, with as many digits as the uncertainty of its ends justifies.
std::string change_text(const Profile& profile) {
  const auto [low, high] = ends_of(profile).value();
  return analysis::difference_to(change(profile),
                                 std::max(analysis::half_width(profile.interval[low]),
                                          analysis::half_width(profile.interval[high])));
}

/// A common axis for all factors of a response, so that slopes are comparable. It includes the
/// runs, the means, and the interval at the common point of the curves unless it is wider than the
/// range of the runs.
Axis response_axis(const analysis::ResponseAnalysis& response, const std::vector<Profile>& profiles,
                   const Eigen::VectorXd& point) {
  const Eigen::VectorXd& observed = response.fit->observed;
  double low = observed.minCoeff();
  double high = observed.maxCoeff();
  const double range = high - low;
  const auto interval = response.drawn()->predict(point).confidence_interval();
  if (interval && interval->high - interval->low < range) {
    low = std::min(low, interval->low);
    high = std::max(high, interval->high);
  }
  for (const Profile& profile : profiles) {
    for (const double mean : profile.mean) {
      if (!std::isfinite(mean)) continue;
      low = std::min(low, mean);
      high = std::max(high, mean);
    }
  }
  return linear_axis(analysis::name_with_unit(response.response.name, response.response.unit), low,
                     high);
}

/// Grey behind what is not allowed; levels are half a unit wide at both sides.
void draw_excluded_part(Chart& chart, const Profile& profile, bool levels, const Axis& y) {
  const auto cover = [&](double from, double to) {
    chart.region({{{from, y.low}, {to, y.low}, {to, y.high}, {from, y.high}}},
                 {{"fill", kExcludedFill}});
  };
  for (std::size_t i = 0; i < profile.at.size(); ++i) {
    if (levels && !profile.allowed[i]) cover(profile.at[i] - 0.5, profile.at[i] + 0.5);
  }
  if (levels) return;
  Polyline places;
  for (const double at : profile.at) places.push_back({at, 0});
  for (const Polyline& part : parts_of(places, profile.allowed, false)) {
    cover(part.front().x, part.back().x);
  }
}

void draw_curve(Chart& chart, const Profile& profile) {
  Polyline mean, band;
  for (std::size_t i = 0; i < profile.at.size(); ++i) {
    mean.push_back({profile.at[i], profile.mean[i]});
    if (profile.interval[i]) band.push_back({profile.at[i], profile.interval[i]->low});
  }
  for (std::size_t i = profile.at.size(); i-- > 0;) {
    if (profile.interval[i]) band.push_back({profile.at[i], profile.interval[i]->high});
  }
  const std::string colour = series_colour(0);
  if (!band.empty()) chart.region({band}, {{"fill", colour}, {"fill-opacity", "0.22"}});
  draw_allowed_curve(chart, mean, profile.allowed, "mean",
                     {{"stroke", colour}, {"stroke-width", "2"}});
}

void draw_levels(Chart& chart, const Profile& profile) {
  for (std::size_t i = 0; i < profile.at.size(); ++i) {
    const std::string colour = profile.allowed[i] ? series_colour(0) : kExcludedLine;
    if (profile.interval[i]) {
      chart.line(
          {{profile.at[i], profile.interval[i]->low}, {profile.at[i], profile.interval[i]->high}},
          {{"stroke", colour}, {"stroke-width", "2"}});
    }
    chart.circle({profile.at[i], profile.mean[i]}, 4, {{"fill", colour}},
                 analysis::exact_number(profile.mean[i]));
  }
}

/// Arranges charts in rows of three, or of four if a single one would remain.
std::string in_rows(const std::vector<std::string>& charts, std::string_view title) {
  const std::size_t columns = charts.size() % 3 == 1 ? 4 : 3;
  const std::size_t rows = (charts.size() + columns - 1) / columns;
  const double width = kWidth * static_cast<double>(std::min(charts.size(), columns));
  const double height = kHeight * static_cast<double>(rows);
  Markup svg;
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {} {}", width, height)},
                   {"width", fmt::format("{}", width)},
                   {"height", fmt::format("{}", height)},
                   {"role", "img"},
                   {"color", "#222"}});
  svg.element("title", title);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const double x = kWidth * static_cast<double>(i % columns);
    const double y = kHeight * static_cast<double>(i / columns);
    svg.open("g", {{"transform", fmt::format("translate({} {})", x, y)}});
    svg.raw(charts[i]).close();
  }
  return svg.close().take();
}

/// The factors with the largest changes of the response, in study order; all if they are few.
std::vector<std::size_t> factors_to_draw(const std::vector<Profile>& profiles) {
  std::vector<std::size_t> order(profiles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return change(profiles[a]) > change(profiles[b]);
  });
  order.resize(std::min(order.size(), kMaxCharts));
  std::sort(order.begin(), order.end());
  return order;
}

std::string title_of(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response,
                     const analysis::Reference& at, const std::vector<Profile>& profiles) {
  const std::string& name = response.response.name;
  const auto strongest =
      std::max_element(profiles.begin(), profiles.end(),
                       [](const Profile& a, const Profile& b) { return change(a) < change(b); });
  if (!(change(*strongest) > 0)) {
    const bool excludes = std::any_of(profiles.begin(), profiles.end(), [](const Profile& profile) {
      return excludes_any(profile.allowed);
    });
    return fmt::format("At {}, no factor has an effect on {}{}.", at.name, name,
                       excludes ? " among allowed settings" : "");
  }
  const doe::Factor& factor =
      analysis::factors_of(analysis)[static_cast<std::size_t>(strongest - profiles.begin())];
  return fmt::format("At {}, {} changes {}with {}: by {}.", at.name, name,
                     profiles.size() > 1 ? "most " : "", factor.name,
                     analysis::with_unit(change_text(*strongest), response.response.unit));
}

Figure profile_figure(const analysis::Analysis& analysis,
                      const analysis::ResponseAnalysis& response, const analysis::Reference& at) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const Eigen::VectorXd point = doe::coded_point(factors, at.settings);
  std::vector<Profile> profiles;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    profiles.push_back(profile_along(analysis, response, at, static_cast<int>(f), point));
  }
  Figure figure;
  const std::string& name = response.response.name;
  figure.name = "profile-" + file_part(name);
  figure.title = title_of(analysis, response, at, profiles);
  figure.caption = fmt::format(
      "Predicted mean of {} along each factor through {} (dashed), with its 95 % interval.", name,
      at.name);
  const std::vector<std::size_t> drawn = factors_to_draw(profiles);
  if (drawn.size() < profiles.size()) {
    figure.caption += fmt::format(" The {} of {} factors with the largest effects.", drawn.size(),
                                  profiles.size());
  }
  const bool greys = std::any_of(drawn.begin(), drawn.end(),
                                 [&](std::size_t f) { return excludes_any(profiles[f].allowed); });
  if (greys) {
    figure.caption += fmt::format(" Grey: {}; the title leaves it out.", excluded_text(analysis));
  }
  const Axis y = response_axis(response, profiles, point);
  std::vector<std::string> charts;
  for (const std::size_t f : drawn) {
    Chart chart(fmt::format("{}-{}", figure.name, f), factor_axis(factors[f]), y,
                {kWidth, kHeight, 62});
    chart.grid_lines();
    draw_excluded_part(chart, profiles[f], factors[f].is_categorical(), y);
    const double held = point[static_cast<Eigen::Index>(f)];
    chart.line({{held, y.low}, {held, y.high}},
               {{"stroke", "currentColor"}, {"stroke-dasharray", "4 3"}});
    factors[f].is_categorical() ? draw_levels(chart, profiles[f]) : draw_curve(chart, profiles[f]);
    charts.push_back(chart.finish(factors[f].name));
  }
  figure.svg = in_rows(charts, figure.title);
  figure.data = {{"data-figure", "profile"}, {"data-response", name}};
  return figure;
}

}  // namespace

std::vector<Figure> profile_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  const analysis::Reference at = analysis::reference(analysis);
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (response.fit) figures.push_back(profile_figure(analysis, response, at));
  }
  return figures;
}

}  // namespace doetune::reports
