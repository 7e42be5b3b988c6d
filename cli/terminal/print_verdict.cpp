#include "cli/terminal/print_verdict.h"

#include <fmt/format.h>

#include "analysis/best_run.h"
#include "cli/terminal/terminal.h"

namespace doetune::cli {
namespace {

Colour colour_of(analysis::Status status) {
  switch (status) {
    case analysis::Status::kConfirmed:
      return Colour::kGood;
    case analysis::Status::kInfeasible:
    case analysis::Status::kNotConfirmed:
      return Colour::kBad;
    default:
      return Colour::kCaution;
  }
}

}  // namespace

void print_verdict(const analysis::Verdict& verdict) {
  const std::string badge(analysis::status_name(verdict.status));
  // Colour codes have no width, so lines are broken before the badge is coloured.
  const std::string text = wrapped(badge + ": " + verdict.headline, 0, kColumns);
  fmt::print("{}{}\n", coloured(badge, colour_of(verdict.status)), text.substr(badge.size()));
  for (const std::string& caveat : verdict.caveats) {
    fmt::print("  {}\n", wrapped("caution: " + caveat, 4, kColumns));
  }
}

std::string next_of(const analysis::Verdict& verdict) {
  return verdict.next_command.empty() ? verdict.next_reason : verdict.next_command;
}

void print_preference(const analysis::Analysis& analysis) {
  const std::string text = analysis::preference_text(analysis);
  if (!text.empty()) fmt::print("\n{}\n", wrapped(text, 0, kColumns));
}

}  // namespace doetune::cli
