// report.json.
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "reports/documents/report_formats.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"
#include "study/evaluation_json.h"

namespace doetune::reports {
namespace {

using nlohmann::ordered_json;

ordered_json design_json(const study::StudyDirectory& directory) {
  return {{"type", directory.study.design.type},
          {"seed", directory.study.seed},
          {"model", directory.study.model.term_names()},
          {"plan", directory.plan_hash},
          {"notes", directory.plan.notes},
          {"evaluation", study::evaluation_document(directory.plan.evaluation)}};
}

ordered_json run_json(const analysis::Analysis& analysis, const study::PlannedRun& run) {
  ordered_json json{{"run", run.run},
                    {"point_type", doe::point_type_name(run.type)},
                    {"block", run.block},
                    {"replicate", run.replicate},
                    {"settings", settings_json(analysis.directory->study.factors, run.settings)},
                    {"status", nullptr}};
  const auto found = analysis.records.find(run.run);
  if (found == analysis.records.end()) return json;
  const study::RunRecord& record = found->second;
  json["status"] = study::run_status_name(record.status);
  json["responses"] = record.responses;
  json["host"] = record.host;
  json["gpu"] = record.gpu;
  json["start"] = record.start;
  json["flags"] = record.flags;
  if (!record.reason.empty()) json["reason"] = record.reason;
  return json;
}

ordered_json figures_json(const Page& page) {
  ordered_json figures = ordered_json::array();
  for (const Figure* figure : figures_of(page)) {
    figures.push_back({{"file", "figures/" + figure->name + ".svg"},
                       {"title", figure->title},
                       {"caption", figure->caption}});
  }
  return figures;
}

}  // namespace

std::string json_of(const Page& page) {
  const analysis::Analysis& analysis = page.analysis;
  ordered_json runs = ordered_json::array();
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    runs.push_back(run_json(analysis, run));
  }
  const ordered_json json{
      {"schema_version", kSchemaVersion},
      {"doetune", version()},
      {"study", analysis.directory->study.name},
      {"status", analysis::status_name(page.verdict.status)},
      {"headline", page.verdict.headline},
      {"caveats", page.verdict.caveats},
      {"next", {{"command", page.verdict.next_command}, {"reason", page.verdict.next_reason}}},
      {"optimum", ordered_json::parse(optimum_json(analysis))},
      {"fit", ordered_json::parse(fit_json(analysis))},
      {"design", design_json(*analysis.directory)},
      {"runs", runs},
      {"warnings", analysis.warnings},
      {"figures", figures_json(page)}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace doetune::reports
