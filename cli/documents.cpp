#include "cli/documents.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json_format.h"
#include "cli/failure.h"
#include "reports/documents/report_formats.h"
#include "reports/json/analysis_json.h"

namespace doetune::cli {
namespace {

/// The result in the workload protocol, which workloads write.
json::Schema workload_schema() {
  const auto number = json::number(), numbers = json::list(number);
  const json::Schema properties{
      {"responses", json::map(number)}, {"repeats", json::map(numbers)},
      {"series", json::map(numbers)},   {"window", numbers},
      {"steady", json::flag()},         {"precision", json::anything()},
      {"stopped_by", json::text()},     {"notes", json::map(json::anything())}};
  return {{"type", "object"}, {"properties", properties}, {"required", {"responses", "notes"}}};
}

/// The schema of a schema: of the study file or of one of these documents.
json::Schema schema_schema() { return {{"$ref", "http://json-schema.org/draft-07/schema#"}}; }

json::Schema fit_schema() { return reports::fit_format().schema; }
json::Schema optimum_schema() { return reports::optimum_format().schema; }
json::Schema report_file_schema() { return reports::report_format().schema; }

struct Document {
  std::string_view name;
  json::Schema (*schema)();
};

/// A command that prints a new document needs a line here.
constexpr std::array kDocuments{
    Document{"init", init_schema},
    Document{"check", check_schema},
    Document{"plan", plan_schema},
    Document{"evaluate", evaluate_schema},
    Document{"run", run_schema},
    Document{"status", status_schema},
    Document{"restore", restore_schema},
    Document{"import", import_schema},
    Document{"confirm", confirm_schema},
    Document{"tune", confirm_schema},
    Document{"next", next_schema},
    Document{"tell", tell_schema},
    Document{"augment", augment_schema},
    Document{"fit", fit_schema},
    Document{"optimize", optimum_schema},
    Document{"report", report_schema},
    Document{"export", export_schema},
    Document{"replay", replay_schema},
    Document{"doctor", doctor_schema},
    Document{"designs", designs_schema},
    Document{"workloads", workloads_schema},
    Document{"workload", workload_schema},
    Document{"completion", completion_schema},
    Document{"man", man_schema},
    Document{"schema", schema_schema},
    Document{"error", error_schema},
    Document{"fit.json", fit_schema},
    Document{"optimum.json", optimum_schema},
    Document{"report.json", report_file_schema},
};

}  // namespace

std::vector<std::string> document_names() {
  std::vector<std::string> names;
  for (const Document& document : kDocuments) names.emplace_back(document.name);
  return names;
}

std::string document_schema(const std::string& name) {
  const auto found = std::find_if(kDocuments.begin(), kDocuments.end(),
                                  [&](const Document& document) { return document.name == name; });
  json::Schema schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                      {"title", "doetune " + name}};
  schema.update(found->schema());
  return json::text_of(schema);
}

}  // namespace doetune::cli
