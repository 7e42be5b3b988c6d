// An attempt's telemetry in numbers: the quantities of study/quantities.h.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "runner/telemetry/sample.h"
#include "runner/telemetry/series.h"

namespace doetune::runner {

struct TelemetrySummary {
  std::map<std::string, double> values;  ///< by name; what was not measured is not there
  std::string problem;                   ///< why there are none
};

/// Energy is the growth of the GPUs' own counters, or where one has none, the integral over its
/// power; both per second of the window covered, times the window. A sum over GPUs is there only
/// where each of them tells its part. `throughput` is the run's, for what is per joule.
TelemetrySummary summarise(const Telemetry& telemetry, const TimeWindow& window,
                           std::optional<double> throughput = std::nullopt);

/// The same of an attempt's telemetry.csv: over the window that the workload names on
/// CLOCK_MONOTONIC, else from `warmup_s` after the first reading to the last. A file that is
/// not there, too large (64 MiB) or of no sense gives nothing, and a reason.
TelemetrySummary summarise_file(const std::filesystem::path& file,
                                const std::optional<TimeWindow>& window, double warmup_s,
                                std::optional<double> throughput = std::nullopt);

}  // namespace doetune::runner
