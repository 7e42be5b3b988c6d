// What a design is worth, with the names of the reference documentation.
#pragma once

#include "base/json_format_fwd.h"
#include "doe/evaluation/full_evaluation.h"

namespace doetune::study {

/// What `plan` knows: the part that costs next to nothing.
json::Format<doe::Evaluation> evaluation_format();

/// What `evaluate` finds besides.
json::Format<doe::FullEvaluation> full_evaluation_format();

}  // namespace doetune::study
