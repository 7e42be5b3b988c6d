#include "doe/optimal/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "doe/combinations.h"

namespace doetune::doe {
namespace {

constexpr int kMaxRuns = 100'000;
constexpr int kSpareWholePlots = 2;
constexpr double kCostRounding = 1e-9;  ///< rounding tolerance of a quotient of costs

/// Rounded up, so that a budget of the printed duration suffices.
std::string duration_text(double seconds) {
  const auto [unit, name] = seconds < 120    ? std::pair(1.0, "s")
                            : seconds < 7200 ? std::pair(60.0, "min")
                                             : std::pair(3600.0, "h");
  return fmt::format("{:.10g} {}", std::ceil(seconds / unit * 100 - 1e-6) / 100, name);
}

double cost_of(const DesignOptions& options, const Allocation& allocation) {
  return options.replicates * (allocation.runs * *options.run_cost_s +
                               allocation.whole_plots * options.change_cost_s.value_or(0));
}

std::string text_of(const Allocation& allocation) {
  if (allocation.whole_plots == 0) return fmt::format("{} runs", allocation.runs);
  return fmt::format("{} runs in {} whole plots", allocation.runs, allocation.whole_plots);
}

/// The runs per replicate that the budget allows with this many whole plots.
int affordable_runs(const DesignOptions& options, int whole_plots) {
  const double left =
      *options.budget_s / options.replicates - whole_plots * options.change_cost_s.value_or(0);
  const double runs = std::floor(left / *options.run_cost_s + kCostRounding);
  if (runs > kMaxRuns) {
    throw DesignError(fmt::format("budget: it allows {:.0f} runs, but a search takes at most {}",
                                  runs, kMaxRuns));
  }
  return static_cast<int>(std::max(runs, 0.0));
}

int runs_beside(const DesignOptions& options, const Needs& needs, int whole_plots) {
  if (options.runs) return *options.runs;
  return options.budget_s ? affordable_runs(options, whole_plots) : needs.usual_runs;
}

bool will_do(const DesignOptions& options, const Needs& needs, const Allocation& allocation) {
  const bool paid =
      !options.budget_s || allocation.runs <= affordable_runs(options, allocation.whole_plots);
  return paid && allocation.runs >= std::max(needs.runs(), allocation.whole_plots) &&
         allocation.whole_plots >= needs.whole_plots;
}

[[noreturn]] void fail(const DesignOptions& options, const Needs& needs,
                       const Allocation& allocation) {
  const int plots = allocation.whole_plots;
  if (plots < needs.whole_plots) {
    throw DesignError(fmt::format(
        "{} whole plots cannot determine the {} coefficients of the hard-to-change factors; give "
        "{} or more, or a smaller model",
        plots, needs.whole_plots, needs.whole_plots));
  }
  const Allocation least{std::max(needs.runs(), plots), plots};
  const bool chosen = options.runs || !options.budget_s;  // not derived from the budget
  if (chosen && allocation.runs < needs.runs()) {
    throw DesignError(fmt::format(
        "{} runs cannot determine {} coefficients; ask for {} runs or more, or a smaller model",
        allocation.runs + needs.earlier_runs, needs.coefficients, needs.runs()));
  }
  if (chosen && allocation.runs < plots) {
    throw DesignError(
        fmt::format("{} runs do not fill {} whole plots; give more runs", allocation.runs, plots));
  }
  if (chosen) {
    throw DesignError(fmt::format("{} cost {}; the budget of {} allows {} runs",
                                  text_of(allocation), duration_text(cost_of(options, allocation)),
                                  duration_text(*options.budget_s),
                                  affordable_runs(options, plots)));
  }
  throw DesignError(fmt::format(
      "a budget of {} allows {}, but the model needs {}: give {} or more, or a smaller model",
      duration_text(*options.budget_s), text_of(allocation), text_of(least),
      duration_text(cost_of(options, least))));
}

}  // namespace

std::vector<DesignPoint> center_points(const DesignRequest& request) {
  std::vector<DesignPoint> points;
  for (int i = 0; i < request.options.center_runs.value_or(0); ++i) {
    points.push_back({categorical_combination(request.factors, static_cast<std::size_t>(i)),
                      PointType::kCenter, i % request.options.blocks + 1});
  }
  return points;
}

bool in_whole_plots(const DesignRequest& request) {
  const bool hard = std::any_of(request.factors.begin(), request.factors.end(),
                                [](const Factor& factor) { return factor.hard_to_change; });
  return hard && (request.existing.rows() == 0 || request.options.whole_plots);
}

DesignRequest one_replicate(const DesignRequest& request) {
  DesignRequest once = request;
  const int replicates = request.options.replicates;
  const auto share = [&](std::optional<int>& count, const char* name) {
    if (!count) return;
    if (*count % replicates != 0) {
      throw DesignError(
          fmt::format("{} {} cannot be {} replicates of a design; give a multiple of {}", *count,
                      name, replicates, replicates));
    }
    *count /= replicates;
  };
  share(once.options.runs, "runs");
  share(once.options.whole_plots, "whole plots");
  return once;
}

int fewest_whole_plots(const Model& model) {
  const std::vector<Factor>& factors = model.factors();
  return static_cast<int>(
      std::count_if(model.columns().begin(), model.columns().end(), [&](const ModelColumn& column) {
        const std::vector<int>& powers = model.terms()[column.term].powers;
        for (std::size_t f = 0; f < factors.size(); ++f) {
          if (powers[f] > 0 && !factors[f].hard_to_change) return false;
        }
        return true;
      }));
}

void check_costs(const DesignRequest& request) {
  const DesignOptions& options = request.options;
  if ((options.budget_s || options.change_cost_s) && !options.run_cost_s) {
    throw DesignError(fmt::format("{}: set run_cost to the time of one run, as in run_cost: 5 min",
                                  options.budget_s ? "budget" : "change_cost"));
  }
  if (options.run_cost_s && !(*options.run_cost_s > 0)) {
    throw DesignError("run_cost: must be above 0");
  }
  if (!in_whole_plots(request)) {
    if (!options.whole_plots && !options.change_cost_s) return;
    throw DesignError(
        fmt::format("{}: no factor is hard to change; mark one with hard_to_change: true",
                    options.whole_plots ? "whole_plots" : "change_cost"));
  }
  if (options.center_runs.value_or(0) > 0) {
    throw DesignError("center_runs: a design in whole plots has none; leave the key out");
  }
  if (options.blocks > 1) {
    throw DesignError(
        "blocks: hard-to-change factors put the runs in whole plots, which exclude blocks");
  }
}

std::vector<Allocation> allocations(const DesignOptions& options, const Needs& needs) {
  const bool by_cost = !options.whole_plots && options.budget_s && options.change_cost_s;
  int first = needs.whole_plots;
  if (options.whole_plots) first = *options.whole_plots;
  if (!options.whole_plots && !by_cost && first > 0) {
    const int most = std::max(first, runs_beside(options, needs, first));
    first = std::min(first + kSpareWholePlots, most);
  }
  std::vector<Allocation> all;
  for (int plots = first;; ++plots) {
    const Allocation allocation{runs_beside(options, needs, plots), plots};
    if (!will_do(options, needs, allocation)) break;
    all.push_back(allocation);
    if (!by_cost) break;
  }
  if (all.empty()) fail(options, needs, {runs_beside(options, needs, first), first});
  return all;
}

std::string cost_note(const DesignOptions& options, const Allocation& allocation) {
  if (!options.run_cost_s) return "";
  std::string note =
      fmt::format("planned cost {}: {} x {} for runs", duration_text(cost_of(options, allocation)),
                  options.replicates * allocation.runs, duration_text(*options.run_cost_s));
  if (allocation.whole_plots > 0 && options.change_cost_s) {
    note += fmt::format(", {} x {} for changes of the hard-to-change factors",
                        options.replicates * allocation.whole_plots,
                        duration_text(*options.change_cost_s));
  }
  if (options.budget_s) note += fmt::format("; the budget is {}", duration_text(*options.budget_s));
  return note;
}

}  // namespace doetune::doe
