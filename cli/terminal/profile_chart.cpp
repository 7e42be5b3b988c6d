#include "cli/terminal/profile_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/text.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_canvas.h"
#include "doe/design.h"

namespace doetune::cli {
namespace {

constexpr int kProfileMargin = 10;  // columns for the response axis
constexpr int kPanel = 20;
constexpr int kGap = 3;
constexpr int kProfileRows = 6;
constexpr std::size_t kBesideEachOther = 3;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double y) {
    if (!std::isfinite(y)) return;
    low = std::min(low, y);
    high = std::max(high, y);
  }
  double fraction(double y) const { return high > low ? (y - low) / (high - low) : 0.5; }
};

struct Panel {
  const doe::Factor& factor;
  double held = 0;                      ///< coded
  std::vector<double> at;               ///< in [0, 1] along the panel
  std::vector<surfaces::Prediction> y;  ///< predictions at these positions
};

/// Position of a coded setting along a panel; levels are at the centres of equal parts.
double along(const doe::Factor& factor, double coded) {
  if (!factor.is_categorical()) return (coded + 1) / 2;
  return (coded + 0.5) / static_cast<double>(factor.level_names.size());
}

Panel panel_of(const analysis::ResponseAnalysis& response, const doe::Factor& factor, int f,
               Eigen::VectorXd point) {
  Panel panel{factor, point[f], {}, {}};
  const int positions =
      factor.is_categorical() ? static_cast<int>(factor.level_names.size()) : 2 * kPanel;
  for (int i = 0; i < positions; ++i) {
    point[f] = factor.is_categorical() ? i : -1 + (2.0 * i + 1) / positions;
    panel.at.push_back(along(factor, point[f]));
    panel.y.push_back(response.surface()->predict(point));
  }
  return panel;
}

/// The range of the means, extended by intervals and limits as long as the means stay visible.
Range range_of(const std::vector<Panel>& panels, const surfaces::Goal* goal) {
  Range means;
  for (const Panel& panel : panels) {
    for (const surfaces::Prediction& y : panel.y) means.add(y.response());
  }
  const double reach = 0.5 * (means.high - means.low);
  Range range = means;
  const auto add_near = [&](double y) {
    range.add(std::clamp(y, means.low - reach, means.high + reach));
  };
  for (const Panel& panel : panels) {
    for (const surfaces::Prediction& y : panel.y) {
      if (const auto interval = y.confidence_interval()) {
        add_near(interval->low);
        add_near(interval->high);
      }
    }
  }
  if (goal != nullptr && goal->is_limit()) {
    for (const double limit : {goal->met_low(), goal->met_high()}) {
      if (limit >= means.low - reach && limit <= means.high + reach) range.add(limit);
    }
  }
  return range;
}

void draw_curve(TextCanvas& canvas, const Panel& panel, const Range& range) {
  const bool bars = panel.factor.is_categorical();
  const double half = bars ? 0.3 / static_cast<double>(panel.at.size()) : 0;
  for (std::size_t i = 0; i < panel.at.size(); ++i) {
    const double mean = range.fraction(panel.y[i].response());
    if (bars) {
      canvas.line(panel.at[i] - half, mean, panel.at[i] + half, mean);
    } else if (i > 0) {
      canvas.line(panel.at[i - 1], range.fraction(panel.y[i - 1].response()), panel.at[i], mean);
    }
    const auto interval = panel.y[i].confidence_interval();
    if (!interval || (!bars && i % 2 == 1)) continue;
    for (const double end : {interval->low, interval->high}) {
      const double y = range.fraction(end);
      if (canvas.unicode() || canvas.is_empty(canvas.column_of(panel.at[i]), canvas.row_of(y))) {
        canvas.dot(panel.at[i], y, '.');
      }
    }
  }
}

void draw_limits(TextCanvas& canvas, const surfaces::Goal* goal, const Range& range) {
  if (goal == nullptr || !goal->is_limit()) return;
  for (const double limit : {goal->met_low(), goal->met_high()}) {
    if (!(limit >= range.low && limit <= range.high)) continue;
    const int row = canvas.row_of(range.fraction(limit));
    for (int column = 0; column < canvas.columns(); ++column) {
      if (canvas.is_empty(column, row)) canvas.put(column, row, canvas.unicode() ? "╌" : "-");
    }
  }
}

/// Text truncated or padded to `width` characters.
std::string fixed(const std::string& text, std::size_t width) {
  const std::string cut_text = shortened(text, width);
  return cut_text + std::string(width - character_count(cut_text), ' ');
}

std::string axis_line(const Panel& panel, bool unicode) {
  std::string line;
  const int mark =
      std::clamp(static_cast<int>(along(panel.factor, panel.held) * kPanel), 0, kPanel - 1);
  for (int column = 0; column < kPanel; ++column) {
    line += column == mark ? (unicode ? "▲" : "^") : (unicode ? "─" : "-");
  }
  return line;
}

std::string ends_line(const doe::Factor& factor) {
  if (factor.is_categorical()) {
    const std::size_t part = kPanel / factor.level_names.size();
    std::string line;
    for (const std::string& level : factor.level_names) {
      if (part > 1) line += fixed(level, part - 1) + ' ';
    }
    return fixed(line, kPanel);
  }
  const std::string low = analysis::short_number(factor.low);
  const std::string high = analysis::short_number(factor.high);
  return fixed(low, kPanel - std::min<std::size_t>(high.size(), kPanel)) + high;
}

/// One line of all panels, with `before` at its start and separators.
std::string across(const std::string& before, const std::vector<std::string>& parts) {
  std::string line = before;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    line += (i == 0 ? "" : std::string(kGap, ' ')) + parts[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string row_text(const std::vector<Panel>& panels, std::size_t first, const Range& range,
                     const surfaces::Goal* goal, bool unicode) {
  const std::size_t last = std::min(panels.size(), first + kBesideEachOther);
  std::vector<std::vector<std::string>> drawn;
  std::vector<std::string> axes, ends, names;
  for (std::size_t p = first; p < last; ++p) {
    TextCanvas canvas(kPanel, kProfileRows, unicode);
    draw_curve(canvas, panels[p], range);
    draw_limits(canvas, goal, range);
    drawn.push_back(canvas.lines());
    axes.push_back(axis_line(panels[p], unicode));
    ends.push_back(ends_line(panels[p].factor));
    const doe::Factor& factor = panels[p].factor;
    names.push_back(fixed(analysis::name_with_unit(factor.name, factor.unit), kPanel));
  }
  std::string text;
  for (int row = 0; row < kProfileRows; ++row) {
    const double resolution = (range.high - range.low) / 10;
    const std::string label = row == 0 ? analysis::number_to(range.high, resolution)
                              : row == kProfileRows - 1 ? analysis::number_to(range.low, resolution)
                                                        : "";
    std::vector<std::string> parts;
    for (const auto& lines : drawn) parts.push_back(lines[row]);
    text += across(fmt::format("{:>{}} {}", label, kProfileMargin - 2, unicode ? "│" : "|"), parts);
  }
  const std::string blank(kProfileMargin, ' ');
  return text + across(blank, axes) + across(blank, ends) + across(blank, names);
}

}  // namespace

std::string profile_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, bool unicode) {
  if (response.surface() == nullptr) return "";
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const analysis::Reference at = analysis::reference(analysis);
  const Eigen::VectorXd point = doe::coded_point(factors, at.settings);
  std::vector<Panel> panels;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    panels.push_back(panel_of(response, factors[f], static_cast<int>(f), point));
  }
  const surfaces::Goal* goal = analysis::goal_of(analysis, response.response.name);
  const Range range = range_of(panels, goal);
  std::string text = wrapped(
      fmt::format("{} along each factor through {} ({}); dotted: 95 % interval of the mean{}",
                  analysis::name_with_unit(response.response.name, response.response.unit), at.name,
                  unicode ? "▲" : "^",
                  goal != nullptr && goal->is_limit() ? "; dashed: its limit" : ""),
      0, kColumns);
  text += "\n\n";
  for (std::size_t first = 0; first < panels.size(); first += kBesideEachOther) {
    text += row_text(panels, first, range, goal, unicode) + '\n';
  }
  return text;
}

}  // namespace doetune::cli
