#include "doe/optimal/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "doe/evaluation/region_sample.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kExchangeStreams = std::uint64_t{0x6f707469} << 32;
constexpr double kRoughGain = 1e-3;      ///< gain at which a search from a random start ends
constexpr double kThoroughGain = 1e-12;  ///< the same for the few best
constexpr double kEqualityTolerance = 1e-6;
constexpr int kMaxInRound = 4096;
constexpr double kCheapWork = 1e8;  ///< runs x columns^2 of a design whose value takes no time
constexpr int kMinStarts = 1900;    ///< a best found by one start in 400 is then rarely missed

Eigen::MatrixXd first_design(const ExchangeProblem& problem, std::uint64_t seed, int start,
                             const Eigen::MatrixXd& core) {
  RandomStream random(seed, kExchangeStreams + static_cast<std::uint64_t>(start));
  Eigen::MatrixXd design = problem.space.random_design(problem.runs, random);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    design.rightCols(1)(static_cast<Eigen::Index>(i)) = problem.blocks[i];
  }
  const bool from_core = start == 0 || (start % 2 == 0 && core.rows() < problem.runs);
  if (from_core && core.rows() > 0) design.topRows(core.rows()) = core;
  return design;
}

/// Whether the time limit leaves no time for the exact value of one more design.
bool too_late_for(const ExchangeProblem& problem, const SearchTasks& tasks) {
  const double columns = problem.space.column_count();
  return problem.runs * columns * columns > kCheapWork && tasks.out_of_time() &&
         (tasks.polishing() || tasks.any_finished());
}

/// Rounding may lower a value that is nearly optimal: a polished design is never worse than before.
void finish_exchange(const ExchangeProblem& problem, SearchTasks& tasks, ExchangeTask ended) {
  const Candidate& before = tasks[ended.number];
  const auto value =
      too_late_for(problem, tasks) ? std::nullopt : exact_value(problem, ended.design);
  if (tasks.polishing() && !(value > before.value)) {
    tasks.finish(ended.number, before.value, before.design);
  } else if (value) {
    tasks.finish(ended.number, *value, std::move(ended.design));
  }
}

constexpr int kSampled = 1'000;  ///< points in which a level would occur, unless hardly any has it

bool depends_on(const Model& model, std::size_t factor) {
  return std::any_of(model.terms().begin(), model.terms().end(),
                     [&](const Term& term) { return term.powers[factor] > 0; });
}

}  // namespace

void check_levels(const DesignRequest& request) {
  if (request.region.is_box()) return;
  const Eigen::MatrixXd sample = region_sample(request.factors, request.region, kSampled);
  if (sample.rows() < kSampled && !few_combinations(request.factors, kSampled)) return;
  const auto occurs = [](const Eigen::MatrixXd& points, Eigen::Index factor, double level) {
    return points.rows() > 0 && (points.col(factor).array() == level).any();
  };
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    const Factor& factor = request.factors[f];
    if (!factor.is_categorical() || !depends_on(request.model, f)) continue;
    for (std::size_t level = 0; level < factor.level_names.size(); ++level) {
      const auto column = static_cast<Eigen::Index>(f);
      const auto coded = static_cast<double>(level);
      if (occurs(sample, column, coded) || occurs(request.existing, column, coded)) continue;
      throw DesignError(fmt::format(
          "no allowed run has the level '{}' of {}, so that no design determines the model; remove "
          "that level from the study, or use space-filling, which needs no model",
          factor.level_names[level], factor.name));
    }
  }
}

double equality_tolerance(const ExchangeProblem& problem) {
  const bool root = problem.criterion == ExactCriterion::kDeterminant;
  return kEqualityTolerance * (root ? problem.space.column_count() : 1);
}

DesignError nothing_found(int runs) {
  return DesignError(
      fmt::format("no design with {} runs that determines the model was found: the region may be "
                  "too narrow, a factor may have too few settings for its terms, or the time limit "
                  "or the number of starts may be too small",
                  runs));
}

std::optional<SearchResult> search_designs(const ExchangeProblem& problem,
                                           const SearchSettings& settings,
                                           const Eigen::MatrixXd& core) {
  MultiStart method;
  method.max_in_round = kMaxInRound;
  method.min_starts = kMinStarts;
  method.as_good_above = [&](double best) { return best - equality_tolerance(problem); };
  method.new_worker = [&] {
    ExchangeProblem own = problem;  // constraints are not thread-safe
    own.space = problem.space.for_another_thread();
    return [&, own](SearchTasks& tasks) {
      const bool polish = tasks.polishing();
      exchange(own, polish ? kThoroughGain : kRoughGain,
               {[&]() -> std::optional<ExchangeTask> {
                  const auto i = tasks.next();
                  if (!i) return std::nullopt;
                  return ExchangeTask{
                      *i, polish ? tasks[*i].design
                                 : first_design(own, settings.seed, tasks[*i].start, core)};
                },
                [&](ExchangeTask ended) { finish_exchange(own, tasks, std::move(ended)); },
                [&] { return tasks.out_of_time(); }});
    };
  };
  return search_from_many_starts(method, settings);
}

}  // namespace doetune::doe
