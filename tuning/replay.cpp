#include "tuning/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "base/parallel.h"
#include "surfaces/distributions.h"
#include "tuning/answer.h"
#include "tuning/proposal.h"
#include "tuning/start.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

constexpr double kNearBest = 0.98;

using Values = std::map<std::string, double>;

bool has_all_values(const Problem& problem, const Observation& run) {
  return std::all_of(
      problem.objectives.begin(), problem.objectives.end(),
      [&](const Objective& objective) { return run.values.contains(objective.name); });
}

/// The mean of each objective over the measurements of a configuration; empty if it cannot run.
std::optional<Values> means_of(const Problem& problem, const std::vector<Observation>& measured) {
  Values means;
  for (const Observation& run : measured) {
    if (!run.completed) return std::nullopt;
    for (const Objective& objective : problem.objectives) {
      means[objective.name] += run.values.at(objective.name) / static_cast<double>(measured.size());
    }
  }
  return means;
}

/// The problem with ramps that end at the lowest and highest of these values.
Problem closed(Problem problem, const std::vector<Values>& all) {
  for (Objective& objective : problem.objectives) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Values& values : all) {
      low = std::min(low, values.at(objective.name));
      high = std::max(high, values.at(objective.name));
    }
    objective.goal.close(low, high);
  }
  return problem;
}

/// How good values are, the higher the better: what is maximised, the negative of what is
/// minimised, or the desirability of several goals. Empty if they do not meet the limits, or one of
/// several goals not at all.
std::optional<double> true_value(const Problem& problem, const Values& values) {
  std::vector<const Objective*> ramps;
  for (const Objective& objective : problem.objectives) {
    if (!objective.goal.is_limit()) {
      ramps.push_back(&objective);
    } else if (!objective.goal.is_met(values.at(objective.name))) {
      return std::nullopt;
    }
  }
  if (ramps.size() == 1) {
    const double value = values.at(ramps[0]->name);
    if (ramps[0]->goal.type == doe::GoalType::kMaximize) return value;
    if (ramps[0]->goal.type == doe::GoalType::kMinimize) return -value;
  }
  double product = 1, importance = 0;
  for (const Objective* objective : ramps) {
    product *= std::pow(objective->goal.desirability(values.at(objective->name)),
                        objective->goal.importance);
    importance += objective->goal.importance;
  }
  if (product == 0) return std::nullopt;
  return std::pow(product, 1 / importance);
}

/// The ratio to the best of values of one sign; else the fraction of the range, above 0 for all.
double worth_of(double value, double worst, double best) {
  constexpr double kWorst = 1e-9;  // 0 is for what fails
  if (worst == best) return 1;
  if (worst >= 0 && best > 0) return value / best;
  if (best < 0) return best / value;
  return std::max(kWorst, (value - worst) / (best - worst));
}

/// Whether a search among the usable settings of the factors finds every configuration of a table:
/// all of them are usable, and either are candidates or most of what is usable.
bool is_found(const Problem& problem, const std::vector<Settings>& table) {
  double usable = 1;
  for (std::size_t f = 0; f < problem.factors.size(); ++f) {
    const Settings choices = problem.factors[f].usable_settings();
    usable *= static_cast<double>(choices.size());
    for (const Settings& settings : table) {
      if (!std::binary_search(choices.begin(), choices.end(), settings[f])) return false;
    }
  }
  const auto rows = static_cast<double>(table.size());
  return usable <= kMaxCandidates || 2 * rows >= usable;
}

/// One search of one seed.
class OneSearch {
 public:
  OneSearch(const RecordedSystem& system, const ReplayOptions& options, int index)
      : system_(system),
        options_(options),
        problem_(system.problem()),
        random_(problem_.seed, static_cast<std::uint64_t>(index)) {
    problem_.seed = random_.next();
    problem_.threads = 1;  // other searches have the others
  }

  /// Makes runs until there are so many, and gives the worth of the answer. A search whose budget
  /// has another start is another search.
  double worth_after(int runs) {
    if (options_.strategy == Strategy::kOneShot) {
      begin_anew();
      run_all(start(problem_, runs));
    } else if (options_.strategy == Strategy::kTune && start_size(problem_, runs) != start_size_) {
      begin_anew();
      start_size_ = start_size(problem_, runs);
    }
    while (static_cast<int>(so_far_.size()) < runs) {
      const std::size_t before = so_far_.size();
      run_all(next(runs - static_cast<int>(before)));
      if (so_far_.size() == before) break;
    }
    const std::optional<Settings> settings = recommended();
    return settings ? system_.worth(*settings) : 0;
  }

  const std::optional<int>& runs_to_best() const { return runs_to_best_; }

 private:
  std::vector<Settings> next(int most) {
    if (options_.strategy == Strategy::kRandom) return {drawn()};
    if (so_far_.empty()) return start(problem_, std::min(most, start_size_));
    std::vector<Settings> settings;
    for (const Proposal& proposal : next_runs(problem_, so_far_, std::min(most, options_.batch))) {
      settings.push_back(proposal.settings);
    }
    return settings;
  }

  void begin_anew() {
    so_far_.clear();
    runs_to_best_.reset();
  }

  Settings drawn() { return system_.settings(random_.below(system_.size())); }

  std::optional<Settings> recommended() const {
    if (options_.strategy != Strategy::kRandom) {
      const Among among = options_.strategy == Strategy::kTune ? Among::kRuns : Among::kAll;
      if (const auto optimum = answer(problem_, so_far_, among)) return optimum->best.settings;
    }
    const auto best = best_measured(problem_, so_far_);
    if (!best) return std::nullopt;
    return so_far_[*best].settings;
  }

  void run_all(const std::vector<Settings>& all) {
    for (const Settings& settings : all) {
      so_far_.push_back(system_.run(settings, options_.noise, random_));
      if (!runs_to_best_ && system_.worth(settings) >= kNearBest) {
        runs_to_best_ = static_cast<int>(so_far_.size());
      }
    }
  }

  const RecordedSystem& system_;
  const ReplayOptions& options_;
  Problem problem_;
  RandomStream random_;
  int start_size_ = 0;
  std::vector<Observation> so_far_;
  std::optional<int> runs_to_best_;
};

}  // namespace

RecordedSystem::RecordedSystem(Problem problem, const std::vector<Observation>& rows)
    : problem_(std::move(problem)), rows_(std::make_shared<std::map<Settings, Row>>()) {
  for (const Observation& row : rows) {
    if (row.completed && !has_all_values(problem_, row)) continue;
    if (!problem_.region.allows(row.settings)) {
      ++excluded_;
      continue;
    }
    (*rows_)[row.settings].measured.push_back(row);
  }
  std::vector<Values> all;
  for (const auto& [settings, row] : *rows_) {
    if (const auto means = means_of(problem_, row.measured)) all.push_back(*means);
  }
  const Problem of_table = closed(problem_, all);
  double worst = std::numeric_limits<double>::infinity(), best = -worst;
  std::map<Settings, double> values;
  for (const auto& [settings, row] : *rows_) {
    const auto means = means_of(problem_, row.measured);
    const auto value = means ? true_value(of_table, *means) : std::nullopt;
    if (!value) continue;
    values.emplace(settings, *value);
    worst = std::min(worst, *value);
    best = std::max(best, *value);
  }
  if (values.empty()) {
    throw std::invalid_argument(fmt::format(
        "no row of the table completes and meets the limits{}",
        excluded_ > 0 ? fmt::format(" ({} are outside the constraints)", excluded_) : ""));
  }
  for (const auto& [settings, value] : values) {
    (*rows_)[settings].worth = worth_of(value, worst, best);
  }
  std::vector<Settings> table;
  for (const auto& [settings, row] : *rows_) table.push_back(settings);
  if (!is_found(problem_, table)) problem_.only = std::move(table);
  problem_.region = problem_.region.where(
      [all_rows = rows_](const Settings& settings) { return all_rows->contains(settings); },
      "it is in the table");
}

const Settings& RecordedSystem::settings(std::size_t index) const {
  return std::next(rows_->begin(), static_cast<std::ptrdiff_t>(index))->first;
}

double RecordedSystem::worth(const Settings& settings) const { return rows_->at(settings).worth; }

Observation RecordedSystem::run(const Settings& settings, double noise,
                                RandomStream& random) const {
  const std::vector<Observation>& measured = rows_->at(settings).measured;
  Observation observation = measured[random.below(measured.size())];
  for (auto& [name, value] : observation.values) {
    value *= 1 + noise * surfaces::normal_draw(random.uniform());
  }
  return observation;
}

double ReplayedBudget::quantile(double fraction) const {
  std::vector<double> sorted = worth;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))];
}

int ReplayedBudget::failing() const {
  return static_cast<int>(std::count(worth.begin(), worth.end(), 0.0));
}

Replayed replay(const RecordedSystem& system, const ReplayOptions& options) {
  const auto searches = static_cast<std::size_t>(options.searches);
  Replayed replayed;
  for (const int runs : options.budgets) {
    replayed.budgets.push_back({runs, std::vector<double>(searches)});
  }
  replayed.runs_to_best.resize(searches);
  parallel_for(options.searches, options.threads, [&](int index) {
    const auto own = static_cast<std::size_t>(index);
    OneSearch search(system, options, index);
    for (ReplayedBudget& budget : replayed.budgets) {
      budget.worth[own] = search.worth_after(budget.runs);
    }
    replayed.runs_to_best[own] = search.runs_to_best();
    if (options.on_search) options.on_search();
  });
  return replayed;
}

}  // namespace doetune::tuning
