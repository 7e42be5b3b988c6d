// From the runs of one response to its surface, fitted as the study asks.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// The completed runs that measured a response.
struct ResponseRuns {
  std::vector<int> runs;         ///< n numbers
  Eigen::MatrixXd coded;         ///< n x k
  Eigen::MatrixXd settings;      ///< n x k, natural units
  Eigen::VectorXd y;             ///< n
  std::vector<int> blocks;       ///< n
  std::vector<int> whole_plots;  ///< n, or empty where factors are all easy to change
  bool made_here = false;        ///< their numbers are their order in time
  std::map<int, std::string> block_names = {};  ///< of Blocks
  std::vector<study::Repeats> repeats = {};     ///< n, of count 0 where a run has none; or empty
};

/// What cannot be fitted is left empty, with the reason in `problem`.
ResponseAnalysis fit_response(const study::Study& study, const study::Response& response,
                              const ResponseRuns& runs, const AnalysisOptions& options);

/// Of every response of the study, `runs` in the same order. Responses that the same runs measured
/// share what depends on the runs alone.
std::vector<ResponseAnalysis> fit_responses(const study::Study& study,
                                            const std::vector<ResponseRuns>& runs,
                                            const AnalysisOptions& options);

}  // namespace doetune::analysis
