#include "runner/measurement/steady.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace doetune::measurement {
namespace {

constexpr std::size_t kMaxGroups = 128;
constexpr std::size_t kBlocks = 18;
constexpr double kDifferent = 3.5;   ///< standard errors, after a search for the largest difference
constexpr double kFar = 8 * 1.4826;  ///< median deviations: 8 standard deviations under normality
constexpr double kTrending = 2.6;    ///< standard errors: 1 %, two-sided
constexpr double kAlike = -2.6;      ///< standard errors: 0.5 %, one-sided

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  if (sorted.size() % 2 == 1) return *middle;
  return std::midpoint(*middle, *std::max_element(sorted.begin(), middle));
}

/// Relative change; 0 if there is no change, whatever the level.
double relative(double change, double level) { return change == 0 ? 0 : change / std::abs(level); }

/// Ranks from 0; ties share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && values[order[to]] == values[order[from]]) ++to;
    for (std::size_t i = from; i < to; ++i)
      ranks[order[i]] = static_cast<double>(from + to - 1) / 2;
    from = to;
  }
  return ranks;
}

/// White's truncation point (MSER).
std::size_t min_standard_error(std::span<const double> ranks) {
  double sum = 0;
  double squares = 0;
  double smallest = std::numeric_limits<double>::infinity();
  std::size_t best = 0;
  for (std::size_t d = ranks.size(); d-- > 0;) {
    sum += ranks[d];
    squares += ranks[d] * ranks[d];
    const auto n = static_cast<double>(ranks.size() - d);
    const double error = (squares - sum * sum / n) / (n * n);
    if (2 * d > ranks.size() || error > smallest) continue;
    smallest = error;
    best = d;
  }
  return best;
}

/// Whether the mean rank of the first `head` values differs significantly from that of the rest.
bool differs(std::span<const double> ranks, std::size_t head) {
  const auto rest = ranks.subspan(head);
  const double average = mean(rest);
  double squares = 0;
  double products = 0;  // of adjacent values
  for (std::size_t i = 0; i < rest.size(); ++i) {
    squares += (rest[i] - average) * (rest[i] - average);
    if (i > 0) products += (rest[i] - average) * (rest[i - 1] - average);
  }
  const auto n = static_cast<double>(rest.size());
  const double correlation = squares > 0 ? std::clamp(products / squares, 0.0, 0.9) : 0.0;
  const double variance = squares / (n - 1) * (1 + correlation) / (1 - correlation) *
                          (1 / static_cast<double>(head) + 1 / n);
  const double difference = mean(ranks.first(head)) - average;
  return std::abs(difference) > kDifferent * std::sqrt(variance);
}

/// Relative change of level after the first `head` groups.
double change_after(std::span<const double> groups, std::size_t head) {
  const double before = median(groups.first(head));
  return relative(median(groups.subspan(head)) - before, before);
}

/// Number of leading groups that, taken together, differ from the rest by more than the tolerance.
std::size_t different_head(std::span<const double> groups, std::span<const double> ranks,
                           double tolerance) {
  const std::size_t head = min_standard_error(ranks);
  if (head == 0 || !differs(ranks, head)) return 0;
  return std::abs(change_after(groups, head)) > tolerance ? head : 0;
}

std::size_t different_tail(std::span<const double> groups, std::span<const double> ranks,
                           double tolerance) {
  return different_head(std::vector<double>(groups.rbegin(), groups.rend()),
                        std::vector<double>(ranks.rbegin(), ranks.rend()), tolerance);
}

/// Number of leading groups each of which is farther from the overall median than any group of the
/// last half.
std::size_t far_head(std::span<const double> groups, double tolerance) {
  const double level = median(groups);
  std::vector<double> distances;
  for (const double group : groups) distances.push_back(std::abs(group - level));
  const auto half = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  const double far = std::max({kFar * median(distances), tolerance * std::abs(level),
                               1.5 * *std::max_element(half, distances.end())});
  std::size_t head = 0;
  while (head < groups.size() / 2 && distances[head] > far) ++head;
  return head;
}

/// Number of groups in the warm-up.
std::size_t warmup_of(std::span<const double> groups, std::span<const double> ranks,
                      double tolerance) {
  return std::max(different_head(groups, ranks, tolerance), far_head(groups, tolerance));
}

/// Means of some 18 blocks of equal size; values left over are dropped at the beginning.
std::vector<double> blocks_of(std::span<const double> values) {
  const std::size_t size = std::max<std::size_t>((values.size() + kBlocks / 2) / kBlocks, 2);
  std::vector<double> blocks;
  for (std::size_t from = values.size() % size; from < values.size(); from += size)
    blocks.push_back(mean(values.subspan(from, size)));
  return blocks;
}

/// Bartels' ratio, standardised.
double ratio_of_neighbours(std::span<const double> ranks) {
  const double average = mean(ranks);
  double differences = 0;
  double squares = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) differences += (ranks[i] - ranks[i - 1]) * (ranks[i] - ranks[i - 1]);
    squares += (ranks[i] - average) * (ranks[i] - average);
  }
  const auto n = static_cast<double>(ranks.size());
  return squares > 0 ? (differences / squares - 2) / std::sqrt(20 / (5 * n + 7)) : 0;
}

/// Kendall's tau against time, standardised.
double trend_of(std::span<const double> values) {
  int pairs = 0;
  for (std::size_t later = 1; later < values.size(); ++later) {
    for (std::size_t i = 0; i < later; ++i)
      pairs += (values[later] > values[i]) - (values[later] < values[i]);
  }
  const auto n = static_cast<double>(values.size());
  return pairs / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

/// Relative change between the quarters with the lowest and highest median, in time order.
double change_of(std::span<const double> values) {
  std::array<double, 4> quarters{};
  for (std::size_t i = 0; i < quarters.size(); ++i) {
    const std::size_t begin = i * values.size() / 4;
    quarters[i] = median(values.subspan(begin, (i + 1) * values.size() / 4 - begin));
  }
  auto [from, to] = std::ranges::minmax_element(quarters);
  if (from > to) std::swap(from, to);
  return relative(*to - *from, *from);
}

/// Whether there is neither a significant trend nor a swing.
bool is_level(std::span<const double> groups) {
  const std::vector<double> blocks = blocks_of(groups);
  return std::abs(trend_of(blocks)) < kTrending && ratio_of_neighbours(ranks_of(blocks)) > kAlike;
}

/// Result with `begin` in groups; omits at least `warmup` of them.
Steadiness assess_groups(std::span<const double> groups, std::size_t warmup, double tolerance) {
  const std::vector<double> ranks = ranks_of(groups);
  const std::size_t begin = std::max(warmup, warmup_of(groups, ranks, tolerance));
  const auto part = groups.subspan(begin);
  const std::size_t tail = different_tail(part, std::span(ranks).subspan(begin), tolerance);
  if (tail > 0) return {false, groups.size() / 2, change_after(part, part.size() - tail)};
  const double change = change_of(part);
  if (std::abs(change) < tolerance || is_level(part)) return {true, begin, change};
  return {false, groups.size() / 2, change};
}

}  // namespace

SteadyDetector::SteadyDetector(double tolerance) : tolerance_(tolerance) {
  groups_.reserve(kMaxGroups);
}

void SteadyDetector::add(double value) {
  last_sum_ += value;
  if (++in_last_ < group_size_) return;
  groups_.push_back(last_sum_ / static_cast<double>(group_size_));
  last_sum_ = 0;
  in_last_ = 0;
  assessed_.reset();
  if (groups_.size() == kMaxGroups) merge_groups();
}

/// Keeps the warm-up detected at the finer resolution.
void SteadyDetector::merge_groups() {
  const std::size_t warmup = warmup_of(groups_, ranks_of(groups_), tolerance_);
  warmup_ = std::max(warmup_, warmup * group_size_);
  for (std::size_t i = 0; i < kMaxGroups / 2; ++i)
    groups_[i] = std::midpoint(groups_[2 * i], groups_[2 * i + 1]);
  groups_.resize(kMaxGroups / 2);
  group_size_ *= 2;
}

std::optional<Steadiness> SteadyDetector::assess() const {
  if (groups_.size() < kMinValues) return std::nullopt;
  if (!assessed_) {
    const std::size_t warmup = (warmup_ + group_size_ - 1) / group_size_;
    assessed_ = assess_groups(groups_, warmup, tolerance_);
    assessed_->begin *= group_size_;
  }
  return assessed_;
}

std::optional<Steadiness> assess(std::span<const double> values, double tolerance) {
  SteadyDetector detector(tolerance);
  for (const double value : values) detector.add(value);
  return detector.assess();
}

std::string unsteady_sentence(std::string_view name, const Steadiness& assessed,
                              std::size_t count) {
  if (assessed.steady && assessed.begin == 0) return "";
  if (assessed.steady) {
    return fmt::format(
        "{} was not steady from the start: the first {} of {} values differ from the rest; a "
        "longer run.warmup would exclude them",
        name, assessed.begin, count);
  }
  if (!std::isfinite(assessed.change)) return fmt::format("{} never became steady", name);
  return fmt::format("{} never became steady: its level still {} by {:.2g} %", name,
                     assessed.change > 0 ? "rose" : "fell", 100 * std::abs(assessed.change));
}

}  // namespace doetune::measurement
