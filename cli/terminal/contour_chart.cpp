#include "cli/terminal/contour_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_canvas.h"
#include "doe/design.h"
#include "reports/figures/axes.h"
#include "reports/figures/contour.h"

namespace doetune::cli {
namespace {

constexpr int kMargin = 10;  // columns for the vertical axis
constexpr int kAcross = 68;
constexpr int kRows = 22;
constexpr int kNodes = 41;
constexpr int kLevels = 7;
constexpr double kNearSlice = 0.35;  // maximum coded distance of runs near the slice

/// Marks of the chart, for Unicode or ASCII.
struct Marks {
  const char *missed, *near, *far, *optimum, *side;
};
constexpr Marks kUnicodeMarks{"░", "●", "○", "★", "│"};
constexpr Marks kAsciiMarks{":", "O", "o", "X", "|"};

struct Slice {
  const analysis::Analysis& analysis;
  Eigen::VectorXd held;  ///< coded
  int x = 0;
  int y = 1;

  const doe::Factor& factor(int f) const { return analysis::factors_of(analysis)[f]; }
  Eigen::VectorXd point(double cx, double cy) const {
    Eigen::VectorXd coded = held;
    coded[x] = cx;
    coded[y] = cy;
    return coded;
  }
};

double fraction(double coded) { return (coded + 1) / 2; }

bool misses_a_limit(const Slice& slice, const Eigen::VectorXd& point) {
  const doe::Region& region = slice.analysis.directory->study.region;
  if (!region.is_box() &&
      !region.allows(doe::natural_settings(analysis::factors_of(slice.analysis), point))) {
    return true;
  }
  for (const analysis::ResponseAnalysis& response : slice.analysis.responses) {
    const surfaces::Goal* goal = analysis::goal_of(slice.analysis, response.response.name);
    if (goal == nullptr || !goal->is_limit() || response.surface() == nullptr) continue;
    if (!goal->is_met(response.surface()->response(point))) return true;
  }
  return false;
}

/// Writes the level on a line, as near to its middle as there is space.
void label_line(TextCanvas& canvas, const reports::Polyline& line, double level) {
  const std::string label = analysis::short_number(level);
  const int width = static_cast<int>(label.size());
  const auto fits = [&](int column, int row) {
    for (int i = -1; i <= width; ++i) {
      if (column + i < 0 || column + i >= canvas.columns() || canvas.has_text(column + i, row)) {
        return false;
      }
    }
    return true;
  };
  for (const double where : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
    const auto index = static_cast<std::size_t>(where * static_cast<double>(line.size() - 1));
    const int row = canvas.row_of(fraction(line[index].y));
    const int column = canvas.column_of(fraction(line[index].x)) - width / 2;
    if (!fits(column, row)) continue;
    for (int i = 0; i < width; ++i) canvas.put(column + i, row, std::string(1, label[i]));
    return;
  }
}

void draw_lines(TextCanvas& canvas, const reports::Grid& mean, const std::vector<double>& levels) {
  std::vector<std::pair<reports::Polyline, double>> lines;
  for (const double level : levels) {
    for (reports::Polyline& line : reports::iso_lines(mean, level)) {
      for (std::size_t i = 1; i < line.size(); ++i) {
        canvas.line(fraction(line[i - 1].x), fraction(line[i - 1].y), fraction(line[i].x),
                    fraction(line[i].y), '.');
      }
      lines.emplace_back(std::move(line), level);
    }
  }
  for (const auto& [line, level] : lines) label_line(canvas, line, level);
}

/// Shades cells where a limit is violated; returns whether there are any.
bool shade_missed(TextCanvas& canvas, const Slice& slice, const char* mark) {
  bool any = false;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kAcross; ++column) {
      const double cx = -1 + 2 * (column + 0.5) / kAcross;
      const double cy = 1 - 2 * (row + 0.5) / kRows;
      if (!misses_a_limit(slice, slice.point(cx, cy))) continue;
      any = true;
      if (canvas.is_empty(column, row)) canvas.put(column, row, coloured(mark, Colour::kFaint));
    }
  }
  return any;
}

void draw_runs(TextCanvas& canvas, const Slice& slice, const Marks& marks) {
  const study::StudyDirectory& directory = *slice.analysis.directory;
  const Eigen::MatrixXd coded = directory.plan.coded(directory.study.factors);
  for (const bool near_ones : {false, true}) {
    for (const auto& [run, record] : slice.analysis.records) {
      if (record.status != study::RunStatus::kCompleted) continue;
      const Eigen::VectorXd at = coded.row(run - 1);
      double off = 0;
      for (int f = 0; f < at.size(); ++f) {
        if (f != slice.x && f != slice.y) off = std::max(off, std::abs(at[f] - slice.held[f]));
      }
      if ((off <= kNearSlice) != near_ones) continue;
      canvas.put(canvas.column_of(fraction(at[slice.x])), canvas.row_of(fraction(at[slice.y])),
                 near_ones ? marks.near : marks.far);
    }
  }
}

/// The tick labels of the horizontal axis.
std::string x_axis(const doe::Factor& factor) {
  std::string line(kAcross + 1, ' ');
  std::size_t taken = 0;
  for (const double setting : reports::marked_settings(factor)) {
    const std::string label = analysis::short_number(setting);
    const int middle = static_cast<int>(fraction(factor.to_coded(setting)) * (kAcross - 1));
    const int begin = std::clamp(middle - static_cast<int>(label.size()) / 2, 0,
                                 kAcross - static_cast<int>(label.size()));
    if (begin < static_cast<int>(taken)) continue;
    line.replace(begin, label.size(), label);
    taken = begin + label.size() + 1;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> y_axis(const TextCanvas& canvas, const doe::Factor& factor) {
  std::vector<std::string> labels(kRows);
  for (const double setting : reports::marked_settings(factor)) {
    labels[canvas.row_of(fraction(factor.to_coded(setting)))] = analysis::short_number(setting);
  }
  return labels;
}

std::string title_of(const Slice& slice, const analysis::ResponseAnalysis& response,
                     const analysis::Reference& at) {
  const std::string held = analysis::settings_text(analysis::factors_of(slice.analysis),
                                                   at.settings, {slice.x, slice.y});
  return wrapped(
      fmt::format("{} predicted{}",
                  analysis::name_with_unit(response.response.name, response.response.unit),
                  held.empty() ? "" : fmt::format(", with {} ({})", held, at.name)),
      0, kColumns);
}

/// The plot with its axes.
std::string framed(const Slice& slice, const TextCanvas& canvas, const Marks& marks) {
  const doe::Factor &across = slice.factor(slice.x), &up = slice.factor(slice.y);
  std::string text = analysis::name_with_unit(up.name, up.unit) + '\n';
  const std::vector<std::string> labels = y_axis(canvas, up), lines = canvas.lines();
  for (int row = 0; row < kRows; ++row) {
    text += fmt::format("{:>{}} {}{}{}\n", labels[row], kMargin - 2, marks.side, lines[row],
                        marks.side);
  }
  text += std::string(kMargin, ' ') + x_axis(across) + '\n';
  const std::string name = analysis::name_with_unit(across.name, across.unit);
  const std::size_t indent = kMargin + kAcross - std::min<std::size_t>(name.size(), kAcross);
  return text + std::string(indent, ' ') + name + '\n';
}

std::string legend(const Slice& slice, const Marks& marks, bool missed) {
  return fmt::format("  {}{} run here  {} run off this slice{}\n",
                     slice.analysis.optimum ? fmt::format("{} optimum  ", marks.optimum) : "",
                     marks.near, marks.far,
                     missed ? fmt::format("  {} a limit is violated", marks.missed) : "");
}

}  // namespace

std::string contour_text(const analysis::Analysis& analysis,
                         const analysis::ResponseAnalysis& response, int x, int y, bool unicode) {
  const Marks& marks = unicode ? kUnicodeMarks : kAsciiMarks;
  const analysis::Reference at = analysis::reference(analysis);
  const Slice slice{analysis, doe::coded_point(analysis::factors_of(analysis), at.settings), x, y};
  const reports::Grid mean = reports::square_grid(-1, 1, kNodes, [&](double cx, double cy) {
    return response.surface()->response(slice.point(cx, cy));
  });
  const auto [low, high] = std::minmax_element(mean.z.begin(), mean.z.end());
  TextCanvas canvas(kAcross, kRows, unicode);
  draw_lines(canvas, mean, reports::round_levels(*low, *high, kLevels));
  const bool missed = shade_missed(canvas, slice, marks.missed);
  draw_runs(canvas, slice, marks);
  if (analysis.optimum) {
    canvas.put(canvas.column_of(fraction(slice.held[x])), canvas.row_of(fraction(slice.held[y])),
               coloured(marks.optimum, Colour::kStrong));
  }
  return title_of(slice, response, at) + "\n\n" + framed(slice, canvas, marks) +
         legend(slice, marks, missed);
}

}  // namespace doetune::cli
