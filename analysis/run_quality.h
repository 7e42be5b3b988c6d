// How well the runs were measured: what limited them, and what makes some of them doubtful.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/trust.h"

namespace doetune::analysis {

using Records = std::map<int, study::RunRecord>;

/// What the completed ones of these runs measured.
std::vector<double> measured_values(const Records& records, const std::vector<int>& runs,
                                    const std::string& response);

/// A verdict of telemetry as people say it: "the host CPU" for host_cpu; one that is not known as
/// it is.
std::string bottleneck_words(std::string_view bottleneck);

/// Runs with something in common, by their numbers.
struct RunsAlike {
  std::string what;
  std::vector<int> runs;
};

/// By what limited them, the most frequent first; runs that telemetry does not judge are left out.
std::vector<RunsAlike> runs_by_bottleneck(const Records& records);

/// "12 of 20 runs were limited by the host CPU, 5 by GPU compute; in 3 nothing was near its limit";
/// empty where no run was judged.
std::string bottleneck_sentence(const Records& records);

/// By their flags, in run order; flags that differ in numbers alone count as one, told with the
/// range of each number.
std::vector<RunsAlike> runs_by_flag(const Records& records);

/// Completed runs with any flag.
std::vector<int> flagged_runs(const Records& records);

/// Runs that did not complete, by how they ended: "failed: exit code 3"; the most frequent first,
/// ends that differ in numbers alone as one, in the words of the last run that has it.
std::vector<RunsAlike> runs_by_end(const Records& records);

/// A flag of more than a quarter of the completed runs has a cause that all of them share, which
/// another measurement would meet again.
bool is_of_many(const RunsAlike& flag, const Records& records);

/// A run that stands out from the others, and why.
struct OutlyingRun {
  int run = 0;
  bool is_outlier = false;           ///< by the residual of some response
  std::vector<std::string> reasons;  ///< the residuals that stand out, then its flags
};

/// "y: outlier, residual -4.2 standard deviations", a sentence a response in whose fit the run's
/// residual is farther out than chance explains.
std::vector<std::string> outlier_remarks(const Analysis& analysis, int run);

/// Completed runs whose residual is an outlier of some response (surfaces::RunInfluence), then
/// those flagged otherwise but for flags of many; each in run order.
std::vector<OutlyingRun> outlying_runs(const Analysis& analysis);

/// What speaks against the runs themselves, for any response: flags, and conditions that differ.
std::vector<Finding> run_findings(const Analysis& analysis);

}  // namespace doetune::analysis
