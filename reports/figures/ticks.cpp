#include "reports/figures/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace doetune::reports {
namespace {

/// A tick label with `digits` significant digits.
std::string tick_label(double x, int digits) {
  static constexpr std::array<std::pair<double, const char*>, 3> kSizes{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}}};
  const double size = std::abs(x);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) {
    const std::string text = fmt::format("{:.{}e}", x, digits - 1);
    const std::size_t e = text.find('e');
    std::string mantissa = text.substr(0, e);
    if (mantissa.find('.') != std::string::npos) {
      mantissa.erase(mantissa.find_last_not_of('0') + 1);
      if (mantissa.back() == '.') mantissa.pop_back();
    }
    return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
  }
  for (const auto& [scale, letter] : kSizes) {
    if (size >= scale) return fmt::format("{:.{}g}{}", x / scale, digits, letter);
  }
  // Enough digits for the whole integer part.
  const int whole = size >= 1 ? static_cast<int>(std::log10(size)) + 1 : 1;
  return fmt::format("{:.{}g}", x, std::max({digits, 4, whole}));
}

}  // namespace

std::vector<std::string> tick_labels(const std::vector<double>& values) {
  std::vector<std::string> labels;
  for (int digits = 3; digits <= 15; ++digits) {
    labels.clear();
    for (const double value : values) labels.push_back(tick_label(value, digits));
    const std::set<std::string> different(labels.begin(), labels.end());
    if (different.size() == values.size()) break;
  }
  return labels;
}

}  // namespace doetune::reports
