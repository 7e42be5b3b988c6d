// One request by itself, before a load.
#pragma once

#include "workloads/serving/generator.h"

namespace doetune::workloads {

/// Sends request 0 alone, and parses its answer strictly; a second and a third time if it fails
/// otherwise than by a timeout. Throws std::runtime_error, which names the server and says what is
/// wrong in one sentence.
Outcome try_server(const LoadPlan& plan);

}  // namespace doetune::workloads
