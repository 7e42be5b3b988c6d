// Quality of a program's measurements: repeats, precision, window and steady state.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

struct Measured {
  std::map<std::string, study::Repeats> repeats;    ///< responses with at least two repeats
  std::map<std::string, double> half_width;         ///< of 95 % confidence intervals, relative, by
                                                    ///< response
  std::optional<std::pair<double, double>> window;  ///< seconds of CLOCK_MONOTONIC, in order
  std::optional<bool> steady;                       ///< empty if unknown
  std::vector<std::string> unsteady;                ///< reasons why it is not steady, as sentences
  std::vector<std::string> remarks;                 ///< what was ignored, and why
};

/// Reads "repeats", "window", "steady", "precision" and "series" of a result, for the measured
/// responses of the study; invalid parts are ignored. If the program does not report steadiness or
/// precision, they are computed from each response's series or else its repeats:
/// measurement::assess for steadiness, Student's interval for repeats, batch means for a series.
Measured read_measured(const study::Study& study, const nlohmann::json& object);

/// Remarks for a reader of the results, as sentences: the measurement never became steady, a
/// response misses the required `precision` (relative), or input was ignored.
std::vector<std::string> measurement_flags(const Measured& measured,
                                           std::optional<double> precision);

}  // namespace doetune::runner
