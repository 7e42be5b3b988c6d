// What an analysis comes to, in words: the first screen of the report, the last lines of a
// terminal.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// partial      runs or fits are missing, so there is no final answer
/// no goals     surfaces are fitted, but the study says of no response what is wanted
/// infeasible   no usable settings are predicted to meet every limit, or reach the low end of a
///              ramp
/// unconfirmed  an optimum is predicted; no confirmation runs have judged it yet
/// confirmed, not confirmed, no gain
///              what they say of it: Confirmation::Validation
/// no gain      without any of them as well, where today's settings are the best predicted or no
///              factor changes what is sought
enum class Status {
  kPartial,
  kNoGoals,
  kInfeasible,
  kUnconfirmed,
  kConfirmed,
  kNotConfirmed,
  kNoGain
};

std::string_view status_name(Status status);

struct Verdict {
  Status status = Status::kPartial;
  std::string headline;              ///< the answer in one or two sentences
  std::vector<std::string> caveats;  ///< why to be careful, gravest first, at most three
  std::string next_command;          ///< "doetune run DIR"; empty where the next step is the user's
  std::string next_reason;           ///< what it is for
};

Verdict verdict(const Analysis& analysis);

}  // namespace doetune::analysis
