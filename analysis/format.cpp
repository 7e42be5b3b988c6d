#include "analysis/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace doetune::analysis {
namespace {

std::string fixed(double x, int decimals) {
  const std::string text = fmt::format("{:.{}f}", x, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  return is_zero && text[0] == '-' ? text.substr(1) : text;
}

}  // namespace

std::string short_number(double x) {
  const double size = std::abs(x);
  if (size >= 1000 && size < 1e7) return fmt::format("{:.0f}", x);
  return fmt::format("{:.4g}", x == 0 ? 0.0 : x);
}

std::string exact_number(double x) { return fmt::format("{}", x); }

std::string number_to(double x, double resolution) {
  if (!(resolution > 0) || !std::isfinite(resolution) || std::abs(x) >= 1e7) return short_number(x);
  const int decimals = 1 - static_cast<int>(std::floor(std::log10(resolution)));
  return decimals > 6 ? short_number(x) : fixed(x, std::max(decimals, 0));
}

std::string number_beside(double x, double resolution, const std::optional<surfaces::Goal>& goal) {
  constexpr int kFirstDigits = 2, kMaxDigits = 15;
  constexpr double kRounding = 1e-12;  // differences from a limit that are rounding errors
  std::string text = number_to(x, resolution);
  const auto reads_as = [&](double limit) {
    const bool equals = std::abs(x - limit) <= kRounding * std::abs(limit);
    return !equals && std::strtod(text.c_str(), nullptr) == limit;
  };
  const auto reads_as_any = [&] {
    if (!goal) return false;
    if (goal->type == surfaces::GoalType::kTarget) return reads_as(goal->target);
    return goal->is_limit() && (reads_as(goal->low) || reads_as(goal->high));
  };
  for (int digits = kFirstDigits; reads_as_any(); ++digits) {
    text = digits <= kMaxDigits ? fmt::format("{:.{}g}", x, digits) : exact_number(x);
  }
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (seconds < 10) return fmt::format("{:.2g} s", seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  const auto text = [](long large, const char* unit, long small, const char* small_unit) {
    return small == 0 ? fmt::format("{} {}", large, unit)
                      : fmt::format("{} {} {} {}", large, unit, small, small_unit);
  };
  if (whole < 3600) return text(whole / 60, "min", whole % 60, "s");
  return text(whole / 3600, "h", whole % 3600 / 60, "min");
}

double half_width(const std::optional<surfaces::Interval>& interval) {
  return interval ? (interval->high - interval->low) / 2 : 0;
}

std::string difference_to(double x, double resolution) {
  return number_to(x, x == 0 ? resolution : std::min(resolution, std::abs(x)));
}

std::string signed_difference_to(double x, double resolution) {
  return (x < 0 ? "" : "+") + difference_to(x, resolution);
}

std::string interval_text(const surfaces::Interval& interval) {
  const double half = half_width(interval);
  return number_to(interval.low, half) + " to " + number_to(interval.high, half);
}

std::string p_text(double p) {
  return p < 0.0001 ? std::string("< 0.0001") : fmt::format("{:.2g}", p);
}

std::string p_words(double p) { return p < 0.0001 ? "p < 0.0001" : "p = " + p_text(p); }

std::string percent(double fraction) {
  if (fraction > 0.99 && fraction < 1) return "> 99 %";
  if (fraction < 0.01 && fraction > 0) return "< 1 %";
  return fmt::format("{:.0f} %", 100 * fraction);
}

std::string chance_text(double probability) {
  if (probability > 0.99) return "> 99 %";
  return probability < 0.01 ? "< 1 %" : percent(probability);
}

std::string in_words(const std::string& percent) {
  if (percent.starts_with("> ")) return "more than " + percent.substr(2);
  return percent.starts_with("< ") ? "less than " + percent.substr(2) : percent;
}

std::string r2_text(double r2) {
  return r2 >= 0.995 && r2 < 1 ? "> 0.99" : fmt::format("{:.2f}", r2);
}

namespace {

bool has_unit(std::string_view unit) { return !unit.empty() && unit != "1"; }

}  // namespace

std::string with_unit(std::string_view number, std::string_view unit) {
  return has_unit(unit) ? fmt::format("{} {}", number, unit) : std::string(number);
}

std::string name_with_unit(std::string_view name, std::string_view unit) {
  return has_unit(unit) ? fmt::format("{} [{}]", name, unit) : std::string(name);
}

std::string goal_text(const surfaces::Goal& goal, std::string_view unit) {
  using surfaces::GoalType;
  const auto value = [&](double x) { return with_unit(exact_number(x), unit); };
  switch (goal.type) {
    case GoalType::kMaximize:
    case GoalType::kMinimize:
      return doe::word_of(goal.type);
    case GoalType::kTarget:
      return "target " + value(goal.target);
    case GoalType::kWithin:
      return "within " + exact_number(goal.low) + " to " + value(goal.high);
    case GoalType::kAtMost:
      return "at most " + value(goal.high);
    case GoalType::kAtLeast:
      return "at least " + value(goal.low);
  }
  return {};
}

std::string scale_words(const surfaces::Transform& transform) {
  if (transform == surfaces::Transform::kNone) return "";
  return " on the " + surfaces::transform_name(transform) + " scale";
}

std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string capitalised(std::string sentence) {
  if (!sentence.empty()) sentence[0] = static_cast<char>(std::toupper(sentence[0]));
  return sentence;
}

std::string mean_words(const surfaces::Transform& transform) {
  if (transform == surfaces::Transform::kNone) return "mean";
  if (transform == surfaces::Transform::kLog) return "geometric mean";
  if (transform == surfaces::Transform::kInverse) return "harmonic mean";
  return "mean" + scale_words(transform);
}

std::string count_of(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

namespace {

/// Consecutive run numbers.
struct RunRange {
  int first = 0;
  int last = 0;

  std::string text(std::string_view between) const {
    return first == last ? std::to_string(first) : fmt::format("{}{}{}", first, between, last);
  }
};

/// `min_length` is the minimum length of a range; shorter sequences are split into single numbers.
std::vector<RunRange> ranges_of(const std::vector<int>& runs, int min_length) {
  std::vector<RunRange> ranges;
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin + 1;
    while (end < runs.size() && runs[end] == runs[end - 1] + 1) ++end;
    if (static_cast<int>(end - begin) < min_length) end = begin + 1;
    ranges.push_back({runs[begin], runs[end - 1]});
    begin = end;
  }
  return ranges;
}

}  // namespace

std::string gpu_text(const std::string& gpus) {
  constexpr std::size_t kFirstBlock = 12;  // end of the first block of GPU-3f2a91c4-...,
                                           // MIG-3f2a91c4-...
  std::string text;
  for (std::size_t begin = 0; begin < gpus.size();) {
    const std::size_t end = std::min(gpus.find(',', begin), gpus.size());
    const std::string gpu = gpus.substr(begin, end - begin);
    const bool is_uuid = gpu.starts_with("GPU-") || gpu.starts_with("MIG-");
    if (!text.empty()) text += ",";
    if (text.empty() && !is_uuid) text = "GPU ";
    text += is_uuid ? gpu.substr(0, kFirstBlock) : gpu;
    begin = end + 1;
  }
  return text;
}

std::string runs_text(const std::vector<int>& runs) {
  constexpr std::size_t kReadable = 12;
  if (runs.size() == 1) return fmt::format("run {}", runs.front());
  const std::vector<RunRange> ranges = ranges_of(runs, 3);
  std::vector<std::string> parts;
  int shown = 0;
  for (std::size_t i = 0; i < std::min(ranges.size(), kReadable); ++i) {
    parts.push_back(ranges[i].text(" to "));
    shown += ranges[i].last - ranges[i].first + 1;
  }
  const int more = static_cast<int>(runs.size()) - shown;
  std::string last = more > 0 ? fmt::format("{} more", more) : parts.back();
  if (more == 0) parts.pop_back();
  if (parts.empty()) return "runs " + last;
  return fmt::format("runs {} and {}", fmt::join(parts, ", "), last);
}

std::string run_list(const std::vector<int>& runs) {
  std::vector<std::string> parts;
  for (const RunRange& range : ranges_of(runs, 2)) parts.push_back(range.text("-"));
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace doetune::analysis
