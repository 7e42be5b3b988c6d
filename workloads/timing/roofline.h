// The response `roofline_fraction`: what a run reaches of the device's peak_rates.
#pragma once

#include <optional>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"
#include "workloads/protocol/protocol.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {

/// `roofline`: cached, measure or off.
Input roofline_input();

/// The peak_rates of the device as `roofline` asks: those kept, those measured now, or none (off).
/// Of a request with the inputs `device`, `threads` and `roofline`. To be called before anything is
/// measured, and before executors start. Throws NoDevice and CannotRun.
std::optional<PeakRates> peak_rates_for(const Request& request, Precision precision);

/// The response of runs that take `min_s` at the peak_rates, if there are any.
void add_roofline(const std::optional<PeakRates>& peak_rates, double min_s,
                  std::vector<Derived>& responses);

/// The peak_rates as notes, or why there is no `roofline_fraction`.
void add_peak_rate_notes(const std::optional<PeakRates>& peak_rates, Result& result);

/// The response, its repeats and its precision, from those of `throughput` in images/s of all
/// devices together, and the notes.
void add_roofline_fraction(const std::optional<PeakRates>& peak_rates, const Network& network,
                           int batch, Precision precision, int devices, Result& result);

}  // namespace doetune::workloads
