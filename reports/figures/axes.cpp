#include "reports/figures/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "reports/figures/ticks.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxTicks = 7;
constexpr int kSteps = 40;
constexpr double kRowHeight = 24;  // in pixels

/// Permitted round settings of a factor: powers of its scale's base, or equidistant.
std::vector<double> round_settings(const doe::Factor& factor) {
  std::vector<double> round;
  if (factor.scale == doe::Scale::kLinear) {
    round = round_levels(factor.low, factor.high, 5);
  } else {
    const double base = factor.scale == doe::Scale::kLog2 ? 2 : 10;
    const double first = std::ceil(std::log(factor.low) / std::log(base) - 1e-9);
    for (double x = std::pow(base, first); x <= factor.high; x *= base) round.push_back(x);
  }
  std::erase_if(round, [&](double x) { return factor.snap(x) != x; });
  const std::size_t stride = round.size() / (kMaxTicks + 1) + 1;
  std::vector<double> few;
  for (std::size_t i = 0; i < round.size(); i += stride) few.push_back(round[i]);
  return few;
}

}  // namespace

std::vector<double> marked_settings(const doe::Factor& factor) {
  std::vector<double> settings =
      factor.kind == doe::FactorKind::kContinuous && factor.scale == doe::Scale::kLinear
          ? round_levels(factor.low, factor.high, 5)
          : factor.usable_settings();
  if (settings.size() <= kMaxTicks) return settings;
  if (const std::vector<double> round = round_settings(factor); round.size() >= 3) return round;
  std::vector<double> even;  // equidistant on the factor's own scale
  for (std::size_t i = 0; i < 5; ++i) {
    even.push_back(factor.snap(factor.to_natural(-1 + static_cast<double>(i) / 2)));
  }
  return even;
}

std::vector<double> coded_positions(const doe::Factor& factor) {
  if (factor.is_categorical()) return factor.usable_settings();
  std::vector<double> positions;
  for (int i = 0; i <= kSteps; ++i) positions.push_back(-1 + 2.0 * i / kSteps);
  return positions;
}

std::vector<double> coded_positions(const doe::Factor& factor, double held) {
  std::vector<double> positions = coded_positions(factor);
  const auto after = std::lower_bound(positions.begin(), positions.end(), held);
  if (after == positions.end() || *after != held) positions.insert(after, held);
  return positions;
}

Axis factor_axis(const doe::Factor& factor) {
  if (factor.is_categorical()) {
    Axis axis{factor.name, -0.5, static_cast<double>(factor.level_names.size()) - 0.5, {}};
    for (std::size_t i = 0; i < factor.level_names.size(); ++i) {
      axis.ticks.push_back({static_cast<double>(i), factor.level_names[i]});
    }
    axis.text = [factor](double level) { return factor.format(level); };
    return axis;
  }
  Axis axis{analysis::name_with_unit(factor.name, factor.unit), -1, 1, {}};
  const std::vector<double> settings = marked_settings(factor);
  const std::vector<std::string> labels = tick_labels(settings);
  for (std::size_t i = 0; i < settings.size(); ++i) {
    axis.ticks.push_back({factor.to_coded(settings[i]), labels[i]});
  }
  axis.text = [factor](double coded) { return fmt::format("{:.6g}", factor.to_natural(coded)); };
  return axis;
}

Axis row_axis(const std::vector<std::string>& labels) {
  const double count = static_cast<double>(labels.size());
  Axis axis{"", -0.7, count - 0.3, {}};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    axis.ticks.push_back({count - 1 - static_cast<double>(i), labels[i]});
  }
  return axis;
}

Chart::Size size_of_rows(const Axis& rows) {
  std::size_t longest = 0;
  for (const Tick& tick : rows.ticks) longest = std::max(longest, tick.label.size());
  const double left = std::clamp(7.0 * static_cast<double>(longest) + 14, 60.0, 330.0);
  return {left + 320, 62 + kRowHeight * (rows.high - rows.low), left};
}

}  // namespace doetune::reports
