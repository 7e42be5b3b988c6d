#include "cli/terminal/print_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/reference_point.h"
#include "cli/terminal/terminal.h"

namespace doetune::cli {
namespace {

std::string arrow(const std::string& before, const std::string& after) {
  return before == after ? after : before + " -> " + after;
}

std::string best_of(const analysis::Analysis& analysis) {
  if (!analysis.optimum) return "none";
  return analysis::settings_text(analysis::factors_of(analysis), analysis.optimum->best.settings);
}

}  // namespace

void print_changes(const analysis::Analysis& before, const analysis::Analysis& after) {
  const bool none = std::equal(after.responses.begin(), after.responses.end(),
                               before.responses.begin(), [](const auto& is, const auto& was) {
                                 return (is.fit ? is.fit->n : 0) == (was.fit ? was.fit->n : 0);
                               });
  if (none) {
    fmt::print("No confirmation run has completed, so nothing changes.\n\n");
    return;
  }
  fmt::print("With confirmation and baseline runs, against the plan's runs alone:\n");
  TextTable table({"response", "runs", "sigma", "predicted R²"});
  for (std::size_t r = 0; r < after.responses.size(); ++r) {
    const auto& was = before.responses[r].fit;
    const auto& is = after.responses[r].fit;
    if (!was || !is) continue;
    table.add({after.responses[r].response.name,
               arrow(std::to_string(was->n), std::to_string(is->n)),
               arrow(number_or_dash(was->sigma), number_or_dash(is->sigma)),
               arrow(number_or_dash(was->predicted_r2), number_or_dash(is->predicted_r2))});
  }
  fmt::print("{}", table.str());
  const std::string was = best_of(before), is = best_of(after);
  const std::string moved = was == is
                                ? "the best configuration stays " + is
                                : fmt::format("the best configuration was {} and is {}", was, is);
  fmt::print("  {}\n\n", wrapped(moved, 2, kColumns));
}

}  // namespace doetune::cli
