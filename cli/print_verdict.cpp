#include "cli/print_verdict.h"

#include <fmt/format.h>

#include "cli/terminal.h"

namespace doetune::cli {
namespace {

Colour colour_of(reports::Status status) {
  switch (status) {
    case reports::Status::kConfirmed:
      return Colour::kGood;
    case reports::Status::kInfeasible:
    case reports::Status::kNotConfirmed:
      return Colour::kBad;
    default:
      return Colour::kCaution;
  }
}

}  // namespace

void print_verdict(const reports::Verdict& verdict) {
  const std::string badge(reports::status_name(verdict.status));
  // Colours take no room, so lines are broken before the badge is coloured.
  const std::string text = wrapped(badge + ": " + verdict.headline, 0, kColumns);
  fmt::print("{}{}\n", coloured(badge, colour_of(verdict.status)), text.substr(badge.size()));
  for (const std::string& caveat : verdict.caveats) {
    fmt::print("  {}\n", wrapped("caution: " + caveat, 4, kColumns));
  }
}

}  // namespace doetune::cli
