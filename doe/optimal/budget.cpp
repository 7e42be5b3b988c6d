#include "doe/optimal/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace doetune::doe {
namespace {

constexpr int kMostChoices = 12;
constexpr int kMostRuns = 100'000;
constexpr double kRounding = 1e-9;  ///< of a quotient of costs

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.4g} s", seconds);
  if (seconds < 7200) return fmt::format("{:.4g} min", seconds / 60);
  return fmt::format("{:.4g} h", seconds / 3600);
}

[[noreturn]] void fail_too_small(const DesignOptions& options, int whole_plots, int least_runs) {
  const std::string changes =
      whole_plots == 0 ? "" : fmt::format(" in {} whole plots", whole_plots);
  throw DesignError(fmt::format(
      "a budget of {} pays for {} runs{}; the model needs {}: {} or more",
      duration_text(*options.budget_s), std::max(affordable_runs(options, whole_plots), 0), changes,
      least_runs,
      duration_text(options.replicates * (least_runs * *options.run_cost_s +
                                          whole_plots * options.change_cost_s.value_or(0)))));
}

}  // namespace

bool has_hard_factors(const DesignRequest& request) {
  return std::any_of(request.factors.begin(), request.factors.end(),
                     [](const Factor& factor) { return factor.hard_to_change; });
}

bool wants_whole_plots(const DesignOptions& options) {
  return options.whole_plots || options.change_cost_s;
}

void check_costs(const DesignRequest& request) {
  const DesignOptions& options = request.options;
  if (options.budget_s && !options.run_cost_s) {
    throw DesignError("budget: say with run_cost what one run takes, such as run_cost: 5min");
  }
  if (options.run_cost_s && *options.run_cost_s <= 0) {
    throw DesignError("run_cost: a run takes more than no time");
  }
  if (options.budget_s && options.runs) {
    throw DesignError("the budget settles the number of runs; give runs or budget, not both");
  }
  if (options.change_cost_s && !options.budget_s && !options.whole_plots) {
    throw DesignError("change_cost: it is of use with whole_plots or a budget; give one");
  }
  if (!wants_whole_plots(options)) return;
  if (!has_hard_factors(request)) {
    throw DesignError(fmt::format("{}: no factor is hard to change; mark one with hard_to_change",
                                  options.whole_plots ? "whole_plots" : "change_cost"));
  }
  if (options.center_runs.value_or(0) > 0) {
    throw DesignError("center_runs: a design in whole plots has none; leave them out");
  }
  if (options.blocks > 1) {
    throw DesignError("blocks: runs are in blocks or in whole plots, not in both");
  }
}

int affordable_runs(const DesignOptions& options, int whole_plots) {
  const double left = *options.budget_s / options.replicates -
                      whole_plots * options.change_cost_s.value_or(0);
  const double runs = std::floor(left / *options.run_cost_s * (1 + kRounding));
  if (runs > kMostRuns) {
    throw DesignError(fmt::format("the budget pays for {:.0f} runs; a search takes {} at most",
                                  runs, kMostRuns));
  }
  return static_cast<int>(std::max(runs, -1.0));
}

int least_whole_plots(const Model& model) {
  const std::vector<Factor>& factors = model.factors();
  return static_cast<int>(std::count_if(
      model.columns().begin(), model.columns().end(), [&](const ModelColumn& column) {
        const Term& term = model.terms()[static_cast<std::size_t>(column.term)];
        for (std::size_t f = 0; f < factors.size(); ++f) {
          if (term.powers[f] > 0 && !factors[f].hard_to_change) return false;
        }
        return true;
      }));
}

std::vector<Allocation> allocations(const DesignOptions& options, int least_whole_plots,
                                    int least_runs) {
  std::vector<Allocation> all;
  const int first = options.whole_plots.value_or(std::max(least_whole_plots, 1));
  const int last = options.whole_plots.value_or(kMostRuns);
  for (int plots = first; plots <= last; ++plots) {
    const int runs = affordable_runs(options, plots);
    if (runs < std::max(least_runs, plots)) break;
    all.push_back({plots, runs});
  }
  if (all.empty()) fail_too_small(options, first, std::max(least_runs, first));
  if (all.size() <= kMostChoices) return all;
  std::vector<Allocation> spread;
  for (std::size_t i = 0; i < kMostChoices; ++i) {
    spread.push_back(all[i * (all.size() - 1) / (kMostChoices - 1)]);
  }
  return spread;
}

std::string cost_note(const DesignOptions& options, const Allocation& allocation) {
  if (!options.run_cost_s) return "";
  const int runs = options.replicates * allocation.runs;
  const int changes = options.replicates * allocation.whole_plots;
  const double change_cost = options.change_cost_s.value_or(0);
  std::string note =
      fmt::format("expected cost {}: {} runs of {}",
                  duration_text(runs * *options.run_cost_s + changes * change_cost), runs,
                  duration_text(*options.run_cost_s));
  if (changes > 0) {
    note += fmt::format(" and {} changes of {}", changes, duration_text(change_cost));
  }
  if (options.budget_s) note += fmt::format("; the budget is {}", duration_text(*options.budget_s));
  return note;
}

}  // namespace doetune::doe
