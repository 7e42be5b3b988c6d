// Engine options as JSON, for processes that use an engine.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

nlohmann::ordered_json to_json(const CompileOptions& options);
/// The inverse of to_json.
CompileOptions compile_options_from(const nlohmann::ordered_json& json);

}  // namespace doetune::workloads
