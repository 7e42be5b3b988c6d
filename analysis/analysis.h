// Analyses the runs of a study: response surfaces, their diagnostics and the optimum.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/directory/directory.h"
#include "study/run_record.h"
#include "surfaces/diagnostics.h"
#include "surfaces/fit.h"
#include "surfaces/least_squares/box_cox.h"
#include "surfaces/models/choose_surface.h"
#include "surfaces/models/feasibility.h"
#include "surfaces/models/posterior.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/comparison.h"
#include "surfaces/optimum/equivalents.h"
#include "surfaces/optimum/pareto.h"
#include "surfaces/optimum/relaxations.h"
#include "surfaces/optimum/robustness.h"
#include "surfaces/optimum/uncertainty.h"
#include "surfaces/selection/selection.h"
#include "surfaces/selection/sequential.h"
#include "surfaces/shape.h"
#include "surfaces/variance_model.h"

namespace doetune::analysis {

/// Residual diagnostics of a fit, computed once.
struct FitDiagnostics {
  std::vector<surfaces::RunInfluence> runs;  ///< in the row order of the fit
  std::optional<surfaces::DriftTest> drift;  ///< in run order; empty for imported runs
  std::optional<surfaces::AssumptionTest> normality;
  std::optional<surfaces::BreuschPaganTest> spread;
  std::optional<surfaces::ShapeCertainty> shape;
};

/// A surface fitted because the runs do not determine the study's model, or leave none to estimate
/// its error.
struct Fallback {
  std::string model;   ///< the one that was fitted: "linear"
  std::string reason;  ///< "11 completed runs do not determine the 15 coefficients of the ..."
};

/// The levels of single tests at which those of all responses of a study together are at 5 %: see
/// analysis/study_tests.h.
struct TestLevels {
  double surface = 0.05;      ///< of an effect of the factors, and of lack of fit
  double assumptions = 0.05;  ///< of outliers, drift, spread, constancy and larger models
};

struct ResponseAnalysis {
  study::Response response;
  std::optional<surfaces::Fit> fit;       ///< the polynomial; empty if the runs do not support one
  std::string problem;                    ///< why there is no fit
  std::vector<int> runs = {};             ///< run numbers of the rows of the fit
  std::optional<Fallback> fallback = {};  ///< if another model than the study's is fitted
  std::map<int, std::string> block_names = {};  ///< names of blocks that are not the plan's
  FitDiagnostics diagnostics = {};              ///< of `fit`, if there is one
  std::optional<surfaces::SequentialSummary> sequential = {};
  std::optional<surfaces::BoxCox> box_cox = {};           ///< if all responses are positive
  std::optional<surfaces::Selection> selection = {};      ///< if terms were selected
  std::optional<surfaces::ConstancyTest> constancy = {};  ///< of the variance over replicated runs
  /// Whether the variance model uses repeats within runs; empty without repeats or variance model.
  std::optional<bool> repeats_used = {};
  std::optional<surfaces::SurfaceChoice> choice = {};  ///< if surface types were compared
  /// Predicted R² of the Gaussian process that `auto` would choose, where it was not asked and the
  /// polynomial does not predict well.
  std::optional<double> process_r2 = {};
  TestLevels levels = {};

  /// A parametric model or a Gaussian process used instead of the polynomial; null: `fit` is the
  /// surface.
  std::shared_ptr<const surfaces::Surface> other = {};
  /// What lines and contours show of it, if that is not the surface itself.
  std::shared_ptr<const surfaces::Surface> smooth = {};
  /// Of the surface, for settings that are chosen by it; null without an error estimate.
  std::shared_ptr<const surfaces::Posterior> posterior = {};
  doe::SurfaceType kind = doe::SurfaceType::kPolynomial;
  /// Runs that were ended early and that a Gaussian process takes as censored, after `runs`.
  std::vector<int> censored_runs = {};

  /// The surface that predicts the response; null if there is none.
  const surfaces::Surface* surface() const { return other ? other.get() : fit ? &*fit : nullptr; }

  /// The numbers of the runs that the surface was fitted to, in the order of its rows.
  std::vector<int> runs_of_surface() const {
    std::vector<int> all = runs;
    all.insert(all.end(), censored_runs.begin(), censored_runs.end());
    return all;
  }

  /// The surface to draw; null if there is none.
  const surfaces::Surface* drawn() const { return smooth ? smooth.get() : surface(); }

  /// The prediction at coded settings that were chosen by the surface; it must exist.
  surfaces::Prediction expected(const Eigen::VectorXd& coded) const {
    return posterior ? posterior->predict(coded) : surface()->predict(coded);
  }

  /// Whether the coefficients and their covariance suffice for prediction intervals.
  bool is_plain_polynomial() const { return fit && !other && !fit->split_plot && !fit->variance; }
};

/// Options that override the study file.
struct AnalysisOptions {
  std::optional<std::string> model;  ///< a name from doe::Model::names()
  std::optional<doe::TransformType> transform;
  std::optional<double> power;  ///< exponent of the transform; estimated if empty
  std::optional<doe::SurfaceType> surface;
  std::optional<std::string> parametric_factor;
  std::optional<doe::SelectionMethod> selection;
  std::optional<doe::Loss> loss;
  std::map<std::string, surfaces::Goal> goals;  ///< by response
  std::map<std::string, double> hold;           ///< factors fixed at a level, natural units
  bool with_confirmation = false;  ///< confirmation and baseline runs are fitted as well
  surfaces::LimitsAre limits = surfaces::LimitsAre::kDirections;  ///< in the Pareto front
};

/// What is reported about an optimum besides its settings; inapplicable parts are empty.
struct OptimumDetails {
  bool indifferent = false;           ///< no factor affects any response with a goal
  std::vector<surfaces::Gain> gains;  ///< of every response over the baseline
  /// Gains of every alternative over the best settings.
  std::vector<std::vector<surfaces::Gain>> alternative_gains;
  std::optional<surfaces::OptimumUncertainty> uncertainty;
  std::vector<surfaces::Equivalent> equivalents;  ///< not significantly worse than the best
  surfaces::Robustness robustness;
  surfaces::ParetoFront pareto;
  std::map<std::string, surfaces::Interval> predicted;  ///< range of each response in the region
  std::vector<surfaces::Relaxation> relaxations;        ///< if not all limits can be met
};

/// The best completed run: the answer if no optimum can be predicted.
struct MeasuredAnswer {
  int run = 0;
  bool meets_limits = false;
  std::string reason;  ///< why there is no optimum
};

struct Analysis {
  const study::StudyDirectory* directory = nullptr;
  std::map<int, study::RunRecord> records;  ///< final record of each run that has one
  std::vector<std::string> warnings;
  std::vector<ResponseAnalysis> responses;
  /// Probability that settings can run, from completed and infeasible runs; empty unless both
  /// occur. Runs that were ended early could run.
  std::optional<surfaces::Feasibility> feasibility;
  double min_feasibility = 0;  ///< the probability that recommended settings have, see Study; at
                               ///< most the highest of a completed run
  std::optional<surfaces::Optimum> optimum;  ///< empty without goals or if a response with a goal
                                             ///< has no surface
  bool among_runs = false;  ///< it was chosen among the configurations that a search ran
  std::optional<MeasuredAnswer> measured;  ///< if there is no optimum, but a run with all goals
  std::string optimum_problem;             ///< why there is neither of them
  std::optional<OptimumDetails> details;   ///< of the optimum
  std::map<std::string, surfaces::Goal> goals;  ///< as used, with the ends of all ramps
  std::map<std::string, double> hold;           ///< factors that the answer keeps at a level

  int completed() const;
};

/// The goal of a response in the study file, if it has one; the ends that a ramp does not have are
/// infinite.
std::optional<surfaces::Goal> stated_goal(const study::Response& response);

/// The probability that settings complete, from the final records of the runs; empty unless some
/// completed and some were infeasible. Not from runs that validate.
std::optional<surfaces::Feasibility> completion_model(const study::StudyDirectory& directory);

/// Reads the records and finds the best measured run; fits no surfaces. Ramps span the measured
/// values.
Analysis read_runs(const study::StudyDirectory& directory);

/// Fits a surface to every response of the completed runs, and the probability to complete.
Analysis fit_runs(const study::StudyDirectory& directory, const AnalysisOptions& options = {});

/// Like fit_runs, and also finds the optimum.
Analysis analyse(const study::StudyDirectory& directory, const AnalysisOptions& options = {});

}  // namespace doetune::analysis
