// What an engine is asked for, as it passes to the processes that use one.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

nlohmann::ordered_json to_json(const CompileOptions& options);
/// The options of such an object.
CompileOptions compile_options_from(const nlohmann::ordered_json& json);

}  // namespace doetune::workloads
