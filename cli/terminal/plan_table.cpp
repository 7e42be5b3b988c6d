#include "cli/terminal/plan_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "cli/terminal/terminal.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kMaxRowsShown = 40;

}  // namespace

void print_runs(const study::Study& study, const study::Plan& plan, int first) {
  const std::size_t shown = std::min(plan.runs.size(), first + kMaxRowsShown);
  const bool whole_plots = plan.has_whole_plots();
  std::vector<std::string> header{"run"};
  if (whole_plots) header.emplace_back("whole plot");
  header.emplace_back("point");
  for (const doe::Factor& factor : study.factors) {
    header.push_back(factor.unit.empty() ? factor.name : factor.name + " [" + factor.unit + "]");
  }
  TextTable table(header);
  for (std::size_t i = first; i < shown; ++i) {
    const study::PlannedRun& run = plan.runs[i];
    std::vector<std::string> cells{std::to_string(run.run)};
    if (whole_plots) cells.push_back(run.whole_plot > 0 ? std::to_string(run.whole_plot) : "");
    cells.emplace_back(doe::point_type_name(run.type));
    for (std::size_t f = 0; f < study.factors.size(); ++f) {
      cells.push_back(study.factors[f].format(run.settings[f]));
    }
    table.add(cells);
  }
  fmt::print("{}", table.str());
  if (plan.runs.size() > shown) {
    fmt::print("  ... {} more in plan.csv\n", plan.runs.size() - shown);
  }
}

void print_search(const doe::SearchReport& search) {
  fmt::print("search: {} {:.5g} in {}, found {}, {:.1f} s{}\n", search.criterion, search.best,
             analysis::count_of(search.starts, "start"),
             search.best_found == 1 ? "once" : fmt::format("{} times", search.best_found),
             search.seconds, search.stopped_by_time ? "; ended by the time limit" : "");
  if (!search.bound) return;
  fmt::print("        no design of any size can be better than {:.5g}\n", *search.bound);
}

}  // namespace doetune::cli
