// The response `roofline_fraction`: the fraction of the device's peak rates that a run reaches.
#pragma once

#include <optional>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {

/// The input `roofline`: cached, measure or off.
Input roofline_input();

/// The peak rates of the device as `roofline` says: cached, newly measured, or none (off). The
/// request must have the inputs `device`, `threads` and `roofline`. Call it before anything is
/// measured and before executors start. Throws NoDevice and CannotRun.
std::optional<PeakRates> peak_rates_for(const Request& request, Precision precision);

/// Adds the response of runs that take `min_s` at the peak rates, if these are known.
void add_roofline(const std::optional<PeakRates>& peak_rates, double min_s,
                  std::vector<Derived>& responses);

/// The peak rates as notes, or the reason why there is no `roofline_fraction`.
void add_peak_rate_notes(const std::optional<PeakRates>& peak_rates, Result& result);

/// Adds the response, its repeats and its precision, derived from `throughput` in images/s of all
/// devices together, and the notes.
void add_roofline_fraction(const std::optional<PeakRates>& peak_rates, const Network& network,
                           int batch, Precision precision, int devices, Result& result);

}  // namespace doetune::workloads
