#include "doe/optimal/split_plot.h"

#include <utility>

namespace doetune::doe {
namespace {

constexpr std::uint64_t kSplitPlotStreams = std::uint64_t{0x73706c74} << 32;
constexpr int kMaxSplitPlotStarts = 4032;  ///< six rounds
constexpr int kMaxSplitPlotPasses = 200;
constexpr int kMaxTries = 1000;  ///< to find a run for the same whole plot as its first
constexpr int kMaxRidgePasses = 2;
constexpr double kRidge = 1e-3;      ///< at the beginning of a search from a random start
constexpr double kEarlyGain = 1e-3;  ///< gain at which that search ends
constexpr double kLateGain = 1e-10;  ///< the same for the few best

/// A random allowed run with the hard-to-change settings of another, or that run itself.
Eigen::VectorXd beside(const SplitPlotProblem& problem, const Eigen::VectorXd& first,
                       RandomStream& random) {
  const SearchSpace& space = problem.exchange.space;
  Eigen::VectorXd point = first;
  for (int attempt = 0; attempt < kMaxTries; ++attempt) {
    space.randomise(point, random);
    for (std::size_t f = 0; f < problem.hard.size(); ++f) {
      const auto at = static_cast<Eigen::Index>(f);
      if (problem.hard[f]) point[at] = first[at];
    }
    if (space.allows(point)) return point;
  }
  return first;
}

Eigen::MatrixXd random_split_plot(const SplitPlotProblem& problem, RandomStream& random) {
  const SearchSpace& space = problem.exchange.space;
  Eigen::MatrixXd design(problem.exchange.runs, space.coordinate_count());
  Eigen::VectorXd first = Eigen::VectorXd::Zero(space.coordinate_count());
  Eigen::Index row = 0;
  for (const int size : problem.sizes) {
    space.randomise(first, random);
    design.row(row++) = first.transpose();
    for (int i = 1; i < size; ++i) {
      design.row(row++) = beside(problem, first, random).transpose();
    }
  }
  return design;
}

void improve(SplitPlotExchange& exchange, double min_gain, int max_passes,
             const SearchTasks& tasks) {
  const auto stop = [&] { return tasks.out_of_time(); };
  bool improved = true;
  for (int pass = 0; pass < max_passes && improved && exchange.value(); ++pass) {
    improved = exchange.improve(min_gain, stop);
  }
}

/// Many random starts are singular; a ridge lets the search leave them.
Eigen::MatrixXd ridged_start(const SplitPlotProblem& problem, RandomStream random,
                             const SearchTasks& tasks) {
  SplitPlotExchange exchange(problem, random_split_plot(problem, random), kRidge);
  improve(exchange, kEarlyGain, kMaxRidgePasses, tasks);
  return exchange.design();
}

void search_all(const SplitPlotProblem& problem, std::uint64_t seed, SearchTasks& tasks) {
  while (const auto i = tasks.next()) {
    const Candidate& task = tasks[*i];
    const RandomStream random(seed, kSplitPlotStreams + static_cast<std::uint64_t>(task.start));
    SplitPlotExchange exchange(
        problem, tasks.polishing() ? task.design : ridged_start(problem, random, tasks));
    improve(exchange, tasks.polishing() ? kLateGain : kEarlyGain, kMaxSplitPlotPasses, tasks);
    if (exchange.value()) tasks.finish(*i, *exchange.value(), exchange.design());
  }
}

}  // namespace

std::optional<SearchResult> search_split_plots(const SplitPlotProblem& problem,
                                               const SearchSettings& settings) {
  const double tolerance = equality_tolerance(problem.exchange);
  MultiStart method;
  method.max_starts = kMaxSplitPlotStarts;
  method.earliest_wins = false;
  method.as_good_above = [&](double best) { return best - tolerance; };
  method.new_worker = [&] {
    SplitPlotProblem own = problem;  // constraints are not thread-safe
    own.exchange.space = problem.exchange.space.for_another_thread();
    return [&settings, own](SearchTasks& tasks) { search_all(own, settings.seed, tasks); };
  };
  return search_from_many_starts(method, settings);
}

}  // namespace doetune::doe
