// JSON fields of a design evaluation, for `plan` and `evaluate`.
#pragma once

#include "base/json_format_fwd.h"
#include "doe/evaluation/full_evaluation.h"

namespace doetune::study {

/// The properties that `plan` reports: those that are cheap to compute.
json::Format<doe::Evaluation> evaluation_format();

/// All properties that `evaluate` reports.
json::Format<doe::FullEvaluation> full_evaluation_format();

}  // namespace doetune::study
