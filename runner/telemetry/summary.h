// Summarises an attempt's telemetry as the quantities of study/telemetry_quantities.h.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "runner/telemetry/sample.h"
#include "runner/telemetry/series.h"

namespace doetune::runner {

struct TelemetrySummary {
  std::map<std::string, double> values;  ///< by name; missing if not measured
  std::string problem;                   ///< why there are none
};

/// Energy is the growth of the GPUs' energy counters or, for a GPU without one, the integral of its
/// power; both as a rate over the covered part, times the window. A sum over GPUs is given only if
/// all of them report. `throughput` is that of the run, for quantities per joule.
TelemetrySummary summarise(const Telemetry& telemetry, const TimeWindow& window,
                           std::optional<double> throughput = std::nullopt);

/// Summarises an attempt's telemetry.csv over the window reported by the workload
/// (CLOCK_MONOTONIC), by default from `warmup_s` after the first reading to the last. A file that
/// is missing, too large (64 MiB) or invalid yields no values and a reason.
TelemetrySummary summarise_file(const std::filesystem::path& file,
                                const std::optional<TimeWindow>& window, double warmup_s,
                                std::optional<double> throughput = std::nullopt);

}  // namespace doetune::runner
