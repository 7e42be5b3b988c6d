// What a design is worth, with the names of the reference documentation.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "doe/evaluation/full_evaluation.h"

namespace doetune::study {

/// What `plan` knows: the part that costs next to nothing.
nlohmann::ordered_json evaluation_document(const doe::Evaluation& evaluation);

/// Everything that `evaluate` finds.
nlohmann::ordered_json evaluation_document(const doe::FullEvaluation& evaluation,
                                           const doe::Model& model);

}  // namespace doetune::study
