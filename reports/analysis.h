// From the runs of a study to fitted surfaces and an optimum: what every report shows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/directory.h"
#include "study/run_record.h"
#include "surfaces/diagnostics.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"
#include "surfaces/shape.h"

namespace doetune::reports {

/// What the residuals of a fit say, worked out once.
struct FitDiagnostics {
  std::vector<surfaces::RunInfluence> runs;  ///< in the order of the rows of the fit
  std::optional<surfaces::DriftTest> drift;  ///< by run number; empty for runs made elsewhere
  std::optional<surfaces::AssumptionTest> normality;
  std::optional<surfaces::SpreadTest> spread;
  std::optional<surfaces::ShapeCertainty> shape;
};

struct ResponseAnalysis {
  study::Response response;
  std::optional<surfaces::Fit> fit;  ///< empty where the runs do not support one
  std::string problem;               ///< why there is no fit
  std::vector<int> runs = {};        ///< run numbers of the rows of the fit
  FitDiagnostics diagnostics = {};   ///< of the fit, where there is one
};

struct AnalysisOptions {
  std::optional<std::string> model;      ///< instead of the study's: a name of doe::Model::names()
  std::optional<std::string> transform;  ///< instead of each response's own
  std::map<std::string, surfaces::Goal> goals;  ///< instead of the study's, by response
  std::map<std::string, double> hold;           ///< factors fixed at a natural setting
};

struct Analysis {
  const study::StudyDirectory* directory = nullptr;
  std::map<int, study::RunRecord> records;  ///< final record of each run that has one
  std::vector<std::string> warnings;
  std::vector<ResponseAnalysis> responses;
  std::optional<surfaces::Optimum> optimum;     ///< empty without goals or without their fits
  std::string optimum_problem;                  ///< why there is none
  std::map<std::string, surfaces::Goal> goals;  ///< as used, ramps with their ends filled in

  int completed() const;
};

/// Fits every response over the completed runs and searches the optimum.
Analysis analyse(const study::StudyDirectory& directory, const AnalysisOptions& options = {});

/// The documents of INTERFACES: fit.json and optimum.json, as JSON text with schema_version.
std::string fit_json(const Analysis& analysis);
std::string optimum_json(const Analysis& analysis);

}  // namespace doetune::reports
