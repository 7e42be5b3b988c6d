// Writes report.json.
#include "base/version.h"
#include "reports/documents/report_formats.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"
#include "study/evaluation_json.h"

namespace doetune::reports {
namespace {

using analysis::Analysis;

json::Format<study::StudyDirectory> design_format() {
  using study::StudyDirectory;
  const auto study = json::object<study::Study>(
      {{"type", [](const study::Study& planned) { return planned.design.type; }},
       {"seed", &study::Study::seed},
       {"model", [](const study::Study& planned) { return planned.model.term_names(); }}});
  return json::object<StudyDirectory>(
      {{&StudyDirectory::study, study},
       {"plan", &StudyDirectory::plan_hash},
       {"notes", [](const StudyDirectory& directory) { return directory.plan.notes; }},
       {"evaluation", [](const StudyDirectory& directory) { return directory.plan.evaluation; },
        study::evaluation_format()}});
}

/// A planned run and its record, if there is one.
struct Run {
  const study::PlannedRun* planned;
  const study::RunRecord* record;
};

std::vector<Run> runs_of(const Analysis& analysis) {
  std::vector<Run> runs;
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    const auto found = analysis.records.find(run.run);
    runs.push_back({&run, found == analysis.records.end() ? nullptr : &found->second});
  }
  return runs;
}

json::Format<Run> run_format(const std::vector<doe::Factor>& factors) {
  using study::PlannedRun, study::RunRecord;
  const auto planned = json::object<PlannedRun>(
      {{"run", &PlannedRun::run},
       {"point_type", [](const PlannedRun& run) { return doe::point_type_name(run.type); }},
       {"block", &PlannedRun::block},
       {"replicate", &PlannedRun::replicate},
       {"settings", &PlannedRun::settings, settings_format(factors)}});
  const auto record = json::object<RunRecord>({{"responses", &RunRecord::responses},
                                               {"host", &RunRecord::host},
                                               {"gpu", &RunRecord::gpu},
                                               {"start", &RunRecord::start},
                                               {"flags", &RunRecord::flags},
                                               {"reason?", &RunRecord::reason}});
  const auto status = [](const Run& run) {
    return run.record ? std::optional(study::run_status_name(run.record->status)) : std::nullopt;
  };
  return json::object<Run>(
      {{[](const Run& run) -> const PlannedRun& { return *run.planned; }, planned},
       {"status", status},
       {&Run::record, record}});
}

json::Format<const Figure*> figure_format() {
  return json::object<const Figure*>(
      {{"file", [](const Figure* figure) { return "figures/" + figure->name + ".svg"; }},
       {"title", [](const Figure* figure) { return figure->title; }},
       {"caption", [](const Figure* figure) { return figure->caption; }}});
}

const Analysis& analysis_of(const Page& page) { return page.analysis; }

}  // namespace

json::Format<Page> report_format(const study::Study& study) {
  const auto next = json::object<analysis::Verdict>(
      {{"command", &analysis::Verdict::next_command}, {"reason", &analysis::Verdict::next_reason}});
  const auto directory = [](const Page& page) -> const study::StudyDirectory& {
    return *page.analysis.directory;
  };
  const auto runs = [](const Page& page) { return runs_of(page.analysis); };
  return json::document<Page>(
      {{"doetune", [](const Page&) { return version(); }},
       {"study", [](const Page& page) { return page.analysis.directory->study.name; }},
       {&Page::verdict, verdict_format()},
       {"next", &Page::verdict, next},
       {"optimum", analysis_of, optimum_format(study)},
       {"fit", analysis_of, fit_format(study)},
       {"design", directory, design_format()},
       {"runs", runs, run_format(study.factors)},
       {"warnings", [](const Page& page) { return page.analysis.warnings; }},
       {"figures", figures_of, figure_format()}});
}

std::string json_of(const Page& page) {
  return report_format(page.analysis.directory->study).text(page);
}

}  // namespace doetune::reports
