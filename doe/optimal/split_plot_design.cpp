#include "doe/optimal/split_plot_design.h"
#include "base/clock.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>

namespace doetune::doe {
namespace {

constexpr int kShortStarts = 8;
constexpr std::size_t kTriedAtOnce = 8;
constexpr double kTimeFraction = 0.5;  ///< fraction of the time limit for the short searches that
                                       ///< choose

SplitPlotProblem with(SplitPlotProblem problem, const Allocation& allocation) {
  problem.exchange.runs = allocation.runs;
  problem.sizes = whole_plot_sizes(allocation.runs, allocation.whole_plots);
  return problem;
}

class Choice {
 public:
  Choice(const SplitPlotProblem& problem, const std::vector<Allocation>& choices,
         const SearchSettings& settings)
      : problem_(problem), choices_(choices), settings_(settings), began_(Clock::now()) {}

  const Allocation& best() {
    std::size_t low = 0;
    std::size_t high = choices_.size() - 1;
    while (high - low > 1 && !out_of_time()) {
      const std::vector<std::size_t> tried = spread(low, high);
      for (const std::size_t i : tried) find_value(i);
      const auto largest =
          std::max_element(tried.begin(), tried.end(),
                           [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; });
      const bool all = tried.size() == high - low + 1;
      low = largest == tried.begin() ? low : *(largest - 1);
      high = largest + 1 == tried.end() ? high : *(largest + 1);
      if (all) break;
    }
    find_value(low);
    find_value(high);
    return choices_[largest_value()];
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool out_of_time() const { return seconds() > kTimeFraction * settings_.time_limit_s; }

 private:
  static std::vector<std::size_t> spread(std::size_t low, std::size_t high) {
    const std::size_t count = std::min(high - low + 1, kTriedAtOnce);
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < count; ++i) {
      indices.push_back(low + i * (high - low) / (count - 1));
    }
    return indices;
  }

  /// A choice that cannot be tried in time counts as worst.
  void find_value(std::size_t choice) {
    if (values_.contains(choice)) return;
    values_[choice] = -std::numeric_limits<double>::infinity();
    if (choices_.size() == 1 || out_of_time()) return;
    SearchSettings brief = settings_;
    brief.starts = std::min(settings_.starts.value_or(kShortStarts), kShortStarts);
    brief.time_limit_s = kTimeFraction * settings_.time_limit_s - seconds();
    const auto found = search_split_plots(with(problem_, choices_[choice]), brief);
    if (found) values_[choice] = found->value;
  }

  std::size_t largest_value() const {
    return std::max_element(values_.begin(), values_.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  const SplitPlotProblem& problem_;
  const std::vector<Allocation>& choices_;
  const SearchSettings& settings_;
  const Clock::time_point began_;
  std::map<std::size_t, double> values_;  ///< of the choices tried
};

}  // namespace

std::optional<SplitPlotDesign> split_plot_design(const SplitPlotProblem& problem,
                                                 const std::vector<Allocation>& choices,
                                                 const SearchSettings& settings) {
  Choice choice(problem, choices, settings);
  const Allocation allocation = choice.best();
  const bool hurried = choices.size() > 1 && choice.out_of_time();
  SearchSettings rest = settings;
  rest.time_limit_s = settings.time_limit_s - choice.seconds();
  const SplitPlotProblem chosen = with(problem, allocation);
  const auto found = search_split_plots(chosen, rest);
  if (!found) return std::nullopt;
  SplitPlotDesign design{allocation, {}, *found};
  design.search.seconds = choice.seconds();
  design.search.stopped_by_time |= hurried;
  for (std::size_t plot = 0; plot < chosen.sizes.size(); ++plot) {
    design.whole_plots.insert(design.whole_plots.end(),
                              static_cast<std::size_t>(chosen.sizes[plot]),
                              static_cast<int>(plot) + 1);
  }
  return design;
}

}  // namespace doetune::doe
