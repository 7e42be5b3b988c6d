// From the runs of a study to fitted surfaces and an optimum: what every report shows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/directory.h"
#include "study/run_record.h"
#include "surfaces/choose_surface.h"
#include "surfaces/diagnostics.h"
#include "surfaces/fit.h"
#include "surfaces/least_squares/box_cox.h"
#include "surfaces/models/feasibility.h"
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

/// What the residuals of a fit say, worked out once.
struct FitDiagnostics {
  std::vector<surfaces::RunInfluence> runs;  ///< in the order of the rows of the fit
  std::optional<surfaces::DriftTest> drift;  ///< by run number; empty for runs made elsewhere
  std::optional<surfaces::AssumptionTest> normality;
  std::optional<surfaces::BreuschPaganTest> spread;
  std::optional<surfaces::ShapeCertainty> shape;
};

struct ResponseAnalysis {
  study::Response response;
  std::optional<surfaces::Fit> fit;  ///< the polynomial; empty where the runs do not support one
  std::string problem;               ///< why there is no fit
  std::vector<int> runs = {};        ///< run numbers of the rows of the fit
  std::map<int, std::string> block_names = {};  ///< of its blocks, where they are not the plan's
  FitDiagnostics diagnostics = {};              ///< of the fit, where there is one
  std::optional<surfaces::SequentialSummary> sequential = {};
  std::optional<surfaces::BoxCox> box_cox = {};           ///< of positive responses
  std::optional<surfaces::Selection> selection = {};      ///< where terms were selected
  std::optional<surfaces::ConstancyTest> constancy = {};  ///< of the variance of replicated runs
  /// Whether the variance model learns from repeats inside runs; empty without any, or without it.
  std::optional<bool> repeats_used = {};
  std::optional<surfaces::SurfaceChoice> choice = {};  ///< where kinds of surfaces were compared

  /// A parametric model or a Gaussian process that stands in for the polynomial; empty: the fit is
  /// the surface.
  std::shared_ptr<const surfaces::Surface> other = {};
  doe::SurfaceType kind = doe::SurfaceType::kPolynomial;

  /// What predicts the response; null without any.
  const surfaces::Surface* surface() const { return other ? other.get() : fit ? &*fit : nullptr; }

  /// Whether coefficients and their covariance are all it takes to predict with intervals.
  bool is_plain_polynomial() const { return fit && !other && !fit->split_plot && !fit->variance; }
};

/// What is given takes the place of what the study says.
struct AnalysisOptions {
  std::optional<std::string> model;  ///< a name of doe::Model::names()
  std::optional<doe::TransformType> transform;
  std::optional<double> power;  ///< of the transform; estimated unless given
  std::optional<doe::SurfaceType> surface;
  std::optional<std::string> parametric_factor;
  std::optional<doe::SelectionMethod> selection;
  std::optional<doe::Loss> loss;
  std::map<std::string, surfaces::Goal> goals;  ///< by response
  std::map<std::string, double> hold;           ///< factors fixed at a natural setting
};

/// What is said of an optimum besides the settings. What has no meaning there is empty.
struct OptimumDetails {
  bool indifferent = false;           ///< no factor changes any response with a goal
  std::vector<surfaces::Gain> gains;  ///< of every response over today's settings
  /// Of every alternative of the optimum over its best settings.
  std::vector<std::vector<surfaces::Gain>> alternative_gains;
  std::optional<surfaces::OptimumUncertainty> uncertainty;
  std::vector<surfaces::Equivalent> equivalents;  ///< the runs cannot tell them from the best
  surfaces::Robustness robustness;
  surfaces::ParetoFront pareto;
  std::vector<surfaces::Relaxation> relaxations;  ///< where not all limits can be met
};

struct Analysis {
  const study::StudyDirectory* directory = nullptr;
  std::map<int, study::RunRecord> records;  ///< final record of each run that has one
  std::vector<std::string> warnings;
  std::vector<ResponseAnalysis> responses;
  /// Where settings can run, from completed and infeasible runs; empty unless there are both.
  std::optional<surfaces::Feasibility> feasibility;
  std::optional<surfaces::Optimum> optimum;     ///< empty without goals or without their fits
  std::string optimum_problem;                  ///< why there is none
  std::optional<OptimumDetails> details;        ///< of the optimum
  std::map<std::string, surfaces::Goal> goals;  ///< as used, ramps with their ends filled in

  int completed() const;
};

/// Fits every response over the completed runs.
Analysis fit_runs(const study::StudyDirectory& directory, const AnalysisOptions& options = {});

/// The same, and searches the optimum.
Analysis analyse(const study::StudyDirectory& directory, const AnalysisOptions& options = {});

}  // namespace doetune::analysis
