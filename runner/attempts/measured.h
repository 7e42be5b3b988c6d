// How well and when a program measured: what it says of that, and what its values say.
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
  std::map<std::string, study::Repeats> repeats;    ///< by response, two or more each
  std::map<std::string, double> half_width;         ///< of 95 % intervals, relative, by response
  std::optional<std::pair<double, double>> window;  ///< seconds of CLOCK_MONOTONIC, in order
  std::optional<bool> steady;                       ///< empty where nobody can tell
  std::vector<std::string> unsteady;                ///< why it is not, as sentences
  std::vector<std::string> remarks;                 ///< what was ignored, and why
};

/// Reads a result's "repeats", "window", "steady", "precision" and "series", as far as they are of
/// the study's measured responses and make sense. Where the program is silent about its steadiness
/// or precision, they come from each response's series, or else from its repeats:
/// measurement::judge on the whole, Student's interval of repeats, batch means of a series.
Measured read_measured(const study::Study& study, const nlohmann::json& object);

/// What a reader of the results should know, as plain sentences: that it never became steady, that
/// a response is known less well than wanted (`precision`, relative), what was ignored.
std::vector<std::string> measurement_flags(const Measured& measured,
                                           std::optional<double> precision);

}  // namespace doetune::runner
