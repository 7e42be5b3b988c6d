#include "doe/optimal/minimax_search.h"

#include <cmath>
#include <utility>

namespace doetune::doe {
namespace {

constexpr std::uint64_t kDescentStreams = std::uint64_t{0x6d696e6d} << 32;
constexpr Sharpening kRoughDescent{5, 5, 3125};
constexpr Sharpening kRefinement{15625, 5, 390625};
constexpr Sharpening kSettling{500, 5, 12500};
constexpr double kRoughEnd = 1e-3;  ///< relative: how far a rough descent ends from its optimum
constexpr double kRoughFraction = 0.85;  ///< fraction of the time limit; the rest is for refinement
constexpr int kFirstDescents = 8;
constexpr int kMaxDescents = 1024;  ///< per round
constexpr int kRefinedInRound = 4;
constexpr int kMinDescents = 101;  ///< descents are cheap, and fewer would make the result
                                   ///< unreliable

/// The value of a candidate is minus its largest d.
void descend_all(const MinimaxProblem& problem, std::uint64_t seed, SearchTasks& tasks) {
  while (const auto i = tasks.next()) {
    const Candidate& task = tasks[*i];
    RandomStream random(seed, kDescentStreams + static_cast<std::uint64_t>(task.start));
    MinimaxDescent descent(problem,
                           tasks.polishing()
                               ? task.design
                               : problem.finder.space().random_design(problem.runs, random),
                           [&] { return tasks.out_of_time(); });
    descent.descend(tasks.polishing() ? kRefinement : kRoughDescent);
    if (tasks.polishing()) descent.settle(kSettling);
    if (std::isfinite(descent.value())) tasks.finish(*i, -descent.value(), descent.design());
  }
}

}  // namespace

std::optional<SearchResult> search_minimax(const MinimaxProblem& problem,
                                           const SearchSettings& settings) {
  MultiStart method;
  method.first_round = kFirstDescents;
  method.max_in_round = kMaxDescents;
  method.min_starts = kMinDescents;
  method.polished_at_once = kRefinedInRound;
  method.start_time_fraction = kRoughFraction;
  method.as_good_above = [](double best) { return best * (1 + kRoughEnd); };
  method.hopeful_from = [](double best) { return best * (1 + 2 * kRoughEnd); };
  method.new_worker = [&] {
    MinimaxProblem own = problem;  // constraints are not thread-safe
    own.finder = problem.finder.for_another_thread();
    return [&settings, own](SearchTasks& tasks) { descend_all(own, settings.seed, tasks); };
  };
  auto found = search_from_many_starts(method, settings);
  if (found) found->value = -std::log(-found->value);
  return found;
}

}  // namespace doetune::doe
