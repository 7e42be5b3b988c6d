#include "reports/figures/range_bar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/format.h"
#include "reports/figures/svg.h"
#include "reports/markup/markup.h"

namespace doetune::reports {
namespace {

constexpr double kBarWidth = 220;
constexpr double kBarHeight = 26;
constexpr double kMiddle = kBarHeight / 2;

/// The horizontal axis: everything finite that is drawn, with a margin.
class Span {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  double position(double value) const {
    const double padding = high_ > low_ ? (high_ - low_) * 0.08 : 1;
    const double fraction = (value - low_ + padding) / (high_ - low_ + 2 * padding);
    return kBarWidth * std::clamp(fraction, 0.0, 1.0);
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string tenths(double value) { return fmt::format("{:.1f}", value); }

void draw_bar(Markup& svg, double from, double to, double height, const Attributes& style) {
  Attributes attributes = {{"x", tenths(from)},
                           {"y", tenths(kMiddle - height / 2)},
                           {"width", tenths(std::max(to - from, 0.0))},
                           {"height", tenths(height)}};
  attributes.insert(attributes.end(), style.begin(), style.end());
  svg.empty("rect", attributes);
}

}  // namespace

std::string range_bar(const surfaces::ResponsePrediction& predicted, const surfaces::Goal* goal,
                      const std::optional<double>& now, const std::optional<double>& confirmed) {
  const bool limited = goal != nullptr && goal->is_limit();
  Span span;
  span.add(predicted.expected.value_or(predicted.mean));
  for (const auto& interval : {predicted.confidence_interval, predicted.prediction_interval}) {
    if (!interval) continue;
    span.add(interval->low);
    span.add(interval->high);
  }
  if (limited) {
    span.add(goal->met_low());
    span.add(goal->met_high());
  }
  if (now) span.add(*now);
  if (confirmed) span.add(*confirmed);

  Markup svg;
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {} {}", kBarWidth, kBarHeight)},
                   {"width", fmt::format("{}", kBarWidth)},
                   {"height", fmt::format("{}", kBarHeight)},
                   {"role", "img"}});
  svg.element("title", fmt::format("{}Thin: next run, 95 %. Thick: mean, 95 %. Dot: predicted.{}{}",
                                   limited ? "Shaded: meets the goal. " : "",
                                   confirmed ? " Diamond: confirmed." : "",
                                   now ? " Square: baseline." : ""));
  if (limited) {
    draw_bar(svg, span.position(goal->met_low()), span.position(goal->met_high()), kBarHeight,
             {{"fill", series_colour(2)}, {"fill-opacity", "0.28"}});
  }
  const Attributes ink = {{"fill", "currentColor"}};
  const auto draw = [&](const std::optional<surfaces::Interval>& interval, double height) {
    if (interval)
      draw_bar(svg, span.position(interval->low), span.position(interval->high), height, ink);
  };
  draw(predicted.prediction_interval, 1.5);
  draw(predicted.confidence_interval, 6);
  svg.empty("circle", {{"cx", tenths(span.position(predicted.expected.value_or(predicted.mean)))},
                       {"cy", tenths(kMiddle)},
                       {"r", "5.5"},
                       {"fill", "#d55e00"},
                       {"stroke", "#fff"}});
  if (confirmed) {
    const double at = span.position(*confirmed);
    svg.empty("path", {{"d", fmt::format("M{:.1f} {} l6 6 -6 6 -6 -6 z", at, kMiddle - 6)},
                       {"fill", series_colour(2)},
                       {"stroke", "currentColor"},
                       {"stroke-width", "1.5"}});
  }
  if (now) {
    const double at = span.position(*now);
    draw_bar(svg, at - 4, at + 4, 8,
             {{"fill", "none"}, {"stroke", "currentColor"}, {"stroke-width", "1.5"}});
  }
  return svg.close().take();
}

}  // namespace doetune::reports
