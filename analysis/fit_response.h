// Fits the surface of one response as specified in the study.
#pragma once

#include <Eigen/Core>
#include <map>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "surfaces/models/censored_runs.h"

namespace doetune::analysis {

/// The completed runs that measured a response, n runs of k factors.
struct ResponseRuns {
  std::vector<int> runs;         ///< n run numbers
  Eigen::MatrixXd coded;         ///< n x k
  Eigen::MatrixXd settings;      ///< n x k, natural units
  Eigen::VectorXd y;             ///< n
  std::vector<int> blocks;       ///< n
  std::vector<int> whole_plots;  ///< n, or empty without hard-to-change factors
  bool made_here = false;        ///< run by doetune, so that run numbers are the time order
  std::map<int, std::string> block_names = {};  ///< as in Blocks
  std::vector<study::Repeats> repeats = {};  ///< n, with count 0 for runs without repeats; or empty
  surfaces::CensoredRuns censored = {};      ///< runs that were ended early
  std::vector<int> censored_runs = {};       ///< their numbers
};

/// Parts that cannot be fitted are left empty; `problem` gives the reason.
ResponseAnalysis fit_response(const study::Study& study, const study::Response& response,
                              const ResponseRuns& runs, const AnalysisOptions& options);

/// Fits all responses of the study, with `runs` in the same order. Responses measured by the same
/// runs share the computations that depend only on the runs.
std::vector<ResponseAnalysis> fit_responses(const study::Study& study,
                                            const std::vector<ResponseRuns>& runs,
                                            const AnalysisOptions& options);

}  // namespace doetune::analysis
