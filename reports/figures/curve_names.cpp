#include "reports/figures/curve_names.h"

#include <algorithm>
#include <cmath>

namespace doetune::reports {
namespace {

constexpr double kCharacter = 6.4;  // width in pixels of a character of a label
constexpr double kLine = 13;
constexpr std::size_t kLongestName = 20;

std::string shown_name(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName - 1) + "…";
}

}  // namespace

void draw_curve_names(Chart& chart, const std::vector<CurveEnd>& ends, Side side) {
  std::vector<double> taken;
  for (const CurveEnd& end : ends) {
    const double wanted = chart.pixel(end.at).y;
    double position = wanted;
    const auto clashes = [&](double y) {
      return std::any_of(taken.begin(), taken.end(),
                         [&](double other) { return std::abs(other - y) < kLine; });
    };
    for (int step = 1; clashes(position); ++step) {
      position = wanted + (step % 2 == 0 ? 1 : -1) * ((step + 1) / 2) * kLine;
    }
    taken.push_back(position);
    chart.circle(end.at, 3.5, {{"fill", end.colour}}, end.name);
    chart.tag(end.at, shown_name(end.name), side == Side::kRight ? 7 : -7, position - wanted);
  }
}

double space_for_names(const std::vector<std::string>& names, double span, const Chart::Size& size,
                       int sides) {
  constexpr double kRightEdge = 14, kGaps = 12;
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, shown_name(name).size());
  const double name = kCharacter * static_cast<double>(longest) + kGaps;
  return span * name / (size.width - size.left - kRightEdge - sides * name);
}

}  // namespace doetune::reports
