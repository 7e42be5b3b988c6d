// Inputs that the workloads of single operations and networks share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {

/// A categorical input; the first level is the default.
Input categories(std::string name, std::vector<std::string> levels, std::string description);

Input precision_input();

/// The workload's own inputs, and then `device`, `threads`, `warmup`, `duration` and `roofline`.
std::vector<Input> with_timing_inputs(std::vector<Input> own);

/// The input `threads`, or one for each CPU of the request.
int threads_of(const Request& request);

/// The ceilings of the device as `roofline` asks: those kept, those measured now, or none (off).
/// To be called before anything is measured. Throws NoDevice and CannotRun.
std::optional<Ceilings> ceilings_for(const Request& request, Precision precision);

/// The response `roofline_fraction` of runs that take `least_s` at the ceilings, if there are any.
void add_roofline(const std::optional<Ceilings>& ceilings, double least_s,
                  std::vector<Derived>& responses);

/// The ceilings, or why there is no `roofline_fraction`.
void add_ceiling_notes(const std::optional<Ceilings>& ceilings, Result& result);

}  // namespace doetune::workloads
