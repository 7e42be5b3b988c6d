// Quality of the measurements: bottlenecks, flags, failures and outliers of the runs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/trust.h"

namespace doetune::analysis {

using Records = std::map<int, study::RunRecord>;

/// The values of a response measured by the completed ones of these runs.
std::vector<double> measured_values(const Records& records, const std::vector<int>& runs,
                                    const std::string& response);

/// The name of a bottleneck for readers: "the host CPU" for host_cpu; unchanged if it is unknown.
std::string bottleneck_words(std::string_view bottleneck);

/// Runs with a common property, and their numbers.
struct RunsAlike {
  std::string what;
  std::vector<int> runs;
};

/// By bottleneck, most frequent first; omits runs without an identified bottleneck.
std::vector<RunsAlike> runs_by_bottleneck(const Records& records);

/// "12 of 20 runs were limited by the host CPU, 5 by GPU compute; in 3 nothing was near its limit";
/// empty if no run has a bottleneck assessment.
std::string bottleneck_sentence(const Records& records);

/// By flag, in run order; flags that differ only in numbers are merged and show the range of each
/// number.
std::vector<RunsAlike> runs_by_flag(const Records& records);

/// Completed runs with at least one flag.
std::vector<int> flagged_runs(const Records& records);

/// Runs that did not complete, by how they ended: "failed: exit code 3"; most frequent first.
/// Reasons that differ only in numbers are merged, with the text of the last run.
std::vector<RunsAlike> runs_by_end(const Records& records);

/// Whether the flag occurs in at least a quarter of the completed runs: a common cause, which would
/// also affect repeated measurements.
bool is_of_many(const RunsAlike& flag, const Records& records);

/// A suspicious run and the reasons.
struct OutlyingRun {
  int run = 0;
  bool is_outlier = false;           ///< by the residual of at least one response
  std::vector<std::string> reasons;  ///< outlying residuals, then the run's flags
};

/// "y: outlier, residual -4.2 standard deviations", one sentence per response in which the residual
/// of the run is larger than chance explains.
std::vector<std::string> outlier_remarks(const Analysis& analysis, int run);

/// Completed runs whose residual is an outlier in some response (surfaces::RunInfluence), then
/// other flagged runs, except for flags of many runs; each in run order.
std::vector<OutlyingRun> outlying_runs(const Analysis& analysis);

/// Problems of the runs that affect all responses: flags and differing conditions.
std::vector<Finding> run_findings(const Analysis& analysis);

}  // namespace doetune::analysis
