// The result of an analysis in words, for the first screen of a report and the terminal.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// partial      runs or fits are missing, so there is no final answer
/// no goals     surfaces are fitted, but no response has a goal
/// infeasible   no permitted settings are predicted to meet every limit, or to reach the low end of
///              a ramp
/// unconfirmed  an optimum is predicted, but there are no confirmation runs yet
/// confirmed, not confirmed, no gain, inconclusive
///              result of the confirmation runs: Confirmation::Validation
/// no gain      also without confirmation runs, if the baseline is the predicted optimum or no
///              factor affects a response with a goal
enum class Status {
  kPartial,
  kNoGoals,
  kInfeasible,
  kUnconfirmed,
  kConfirmed,
  kNotConfirmed,
  kNoGain,
  kInconclusive
};

std::string_view status_name(Status status);

struct Verdict {
  Status status = Status::kPartial;
  std::string headline;              ///< the result in one or two sentences
  std::vector<std::string> caveats;  ///< reasons to be careful, most serious first, at most three
  std::string next_command;          ///< "doetune run DIR"; empty if the user must act
  std::string next_reason;           ///< purpose of the command
};

Verdict verdict(const Analysis& analysis);

}  // namespace doetune::analysis
