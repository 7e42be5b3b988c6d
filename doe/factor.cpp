#include "doe/factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/nearest_name.h"

namespace doetune::doe {
namespace {

double scaled(Scale scale, double x) {
  switch (scale) {
    case Scale::kLog2:
      return std::log2(x);
    case Scale::kLog10:
      return std::log10(x);
    case Scale::kLinear:
      break;
  }
  return x;
}

double unscaled(Scale scale, double s) {
  switch (scale) {
    case Scale::kLog2:
      return std::exp2(s);
    case Scale::kLog10:
      return std::pow(10.0, s);
    case Scale::kLinear:
      break;
  }
  return s;
}

/// The largest power of ten <= x.
double power_of_ten_below(double x) { return std::pow(10.0, std::floor(std::log10(x) + 1e-9)); }

/// Rounds to a multiple of step; dividing by the reciprocal keeps multiples of 0.01 exact in print.
double round_to(double x, double step) {
  return step < 1 ? std::round(x * std::round(1 / step)) / std::round(1 / step)
                  : std::round(x / step) * step;
}

/// x rounded to 12 digits: the sum of steps of 0.1 is 0.3, not 0.30000000000000004.
double tidy(double x) { return std::strtod(fmt::format("{:.12g}", x).c_str(), nullptr); }

/// Spacing of usable settings of a continuous factor around x.
double spacing_at(const Factor& factor, double x) {
  if (factor.step > 0) return factor.step;
  if (factor.scale == Scale::kLinear) return power_of_ten_below((factor.high - factor.low) / 100);
  return power_of_ten_below(x / 10);
}

double snap_continuous(const Factor& factor, double x) {
  if (factor.step > 0) {
    const double at = tidy(factor.low + std::round((x - factor.low) / factor.step) * factor.step);
    return std::abs(x - factor.high) < std::abs(x - at) ? factor.high : at;
  }
  return round_to(x, spacing_at(factor, x));
}

/// The number of a level. Case counts only between levels that differ in nothing else: tools write
/// True and FALSE for true and false.
std::optional<double> level_of(const std::vector<std::string>& levels, std::string_view text) {
  const auto number = [&](auto level) { return static_cast<double>(level - levels.begin()); };
  const auto exact = std::find(levels.begin(), levels.end(), text);
  if (exact != levels.end()) return number(exact);
  const auto is_similar = [&](const std::string& level) {
    return level.size() == text.size() && edit_distance(level, text) == 0;  // ignores case
  };
  const auto similar = std::find_if(levels.begin(), levels.end(), is_similar);
  if (similar == levels.end() || std::any_of(similar + 1, levels.end(), is_similar)) {
    return std::nullopt;
  }
  return number(similar);
}

}  // namespace

double Factor::to_coded(double natural) const {
  if (is_categorical()) return natural;
  const double s_low = scaled(scale, low);
  const double s_high = scaled(scale, high);
  return 2 * (scaled(scale, natural) - s_low) / (s_high - s_low) - 1;
}

double Factor::to_natural(double coded) const {
  if (is_categorical()) return coded;
  if (coded == -1) return low;
  if (coded == 1) return high;
  const double s_low = scaled(scale, low);
  const double s_high = scaled(scale, high);
  return unscaled(scale, s_low + (coded + 1) / 2 * (s_high - s_low));
}

double Factor::snap(double natural) const {
  switch (kind) {
    case FactorKind::kContinuous:
      return std::clamp(snap_continuous(*this, natural), low, high);
    case FactorKind::kInteger:
      return std::clamp(std::round(natural), low, high);
    case FactorKind::kCategorical:
      return std::clamp(std::round(natural), 0.0, static_cast<double>(level_names.size()) - 1);
    case FactorKind::kDiscrete:
      break;
  }
  const double at = scaled(scale, natural);
  return *std::min_element(levels.begin(), levels.end(), [&](double a, double b) {
    return std::abs(scaled(scale, a) - at) < std::abs(scaled(scale, b) - at);
  });
}

std::vector<double> Factor::usable_settings() const {
  std::vector<double> settings;
  switch (kind) {
    case FactorKind::kDiscrete:
      return levels;
    case FactorKind::kCategorical:
      for (std::size_t i = 0; i < level_names.size(); ++i)
        settings.push_back(static_cast<double>(i));
      return settings;
    case FactorKind::kInteger:
      for (double x = low; x <= high; ++x) settings.push_back(x);
      return settings;
    case FactorKind::kContinuous:
      break;
  }
  settings.push_back(low);
  for (double x = snap_continuous(*this, low + spacing_at(*this, low)); x < high;
       x = snap_continuous(*this, x + spacing_at(*this, x))) {
    if (x > settings.back()) settings.push_back(x);
  }
  settings.push_back(high);
  return settings;
}

std::string Factor::format(double natural) const {
  if (is_categorical()) return level_names.at(static_cast<std::size_t>(natural));
  return fmt::format("{}", natural + 0.0);  // never -0
}

std::optional<double> Factor::parse(std::string_view text) const {
  if (is_categorical()) {
    return level_of(level_names, text);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool Factor::allows(double natural) const {
  switch (kind) {
    case FactorKind::kContinuous:
      return natural >= low && natural <= high;
    case FactorKind::kInteger:
      return natural >= low && natural <= high && natural == std::round(natural);
    case FactorKind::kDiscrete:
      return std::find(levels.begin(), levels.end(), natural) != levels.end();
    case FactorKind::kCategorical:
      break;
  }
  return natural >= 0 && natural < static_cast<double>(level_names.size()) &&
         natural == std::round(natural);
}

}  // namespace doetune::doe
