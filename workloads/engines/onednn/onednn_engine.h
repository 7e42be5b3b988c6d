// The CPU engine, on oneDNN: primitives and packed weights are created once for each number of
// images and kept (see onednn_plan.h, an internal header).
#pragma once

#include <memory>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

std::unique_ptr<Engine> make_onednn_engine(const EngineOptions& options);

}  // namespace doetune::workloads
