#include "analysis/design_quality.h"

namespace doetune::analysis {
namespace {

constexpr double kSeconds = 0.1;  // time limit for proving the maximum prediction variance

}  // namespace

DesignQuality design_quality(const Analysis& analysis) {
  const study::StudyDirectory& directory = *analysis.directory;
  const study::Study& study = directory.study;
  DesignQuality quality;
  quality.has_whole_plots = directory.plan.has_whole_plots();
  study::Plan made, planned;
  for (const study::PlannedRun& run : directory.plan.runs) {
    if (run.validates()) continue;
    planned.runs.push_back(run);
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end()) continue;
    if (record->second.status == study::RunStatus::kCompleted) made.runs.push_back(run);
  }
  const doe::EvaluationOptions options{.time_limit_s = kSeconds};
  quality.planned =
      doe::evaluate_fully(study.model, study.region, planned.coded(study.factors), options);
  const bool partly = !made.runs.empty() && made.runs.size() < planned.runs.size();
  if (partly) {
    quality.made =
        doe::evaluate_fully(study.model, study.region, made.coded(study.factors), options);
  }
  for (const study::PlannedRun& run : partly ? made.runs : planned.runs) {
    quality.runs.push_back(run.run);
  }
  return quality;
}

}  // namespace doetune::analysis
