#include "cli/documents.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace doetune::cli {
namespace {

Shape init_document() { return versioned({{"file", text()}}); }

Shape search() {
  return object({{"criterion", text()},
                 {"best", number()},
                 {"bound", maybe(number())},
                 {"starts", integer()},
                 {"best_found", integer()},
                 {"seconds", number()},
                 {"stopped_by_time", flag()}});
}

Shape plan_document() {
  return versioned({{"directory", text()},
                    {"format", integer()},
                    {"doetune", text()},
                    {"study", text()},
                    {"created", text()},
                    {"seed", integer()},
                    {"design", text()},
                    {"model", list(text())},
                    {"hash", text()},
                    {"sheets", list(text())},
                    {"region", map(text())},
                    {"working_directory", text()},
                    {"evaluation", evaluation_basics()},
                    {"search", maybe(search())},
                    {"notes", list(text())},
                    {"expected_time_s", maybe(number())}});
}

Shape matrix() {
  return object(
      {{"rows", list(text())}, {"columns", list(text())}, {"values", list(list(number()))}});
}

Shape judged_design() {
  const Shape highest =
      object({{"value", number()}, {"upper_bound", number()}, {"coded", list(number())}});
  return joined(object({{"design", text()}}),
                joined(evaluation_basics(), object({{"model", list(text())},
                                                    {"g_efficiency", maybe(number())},
                                                    {"g_efficiency_least", maybe(number())},
                                                    {"g_proven", flag()},
                                                    {"i_average_variance", maybe(number())},
                                                    {"max_variance", maybe(highest)},
                                                    {"variance_quantiles", list(number())},
                                                    {"min_distance", maybe(number())},
                                                    {"centered_l2", maybe(number())},
                                                    {"power", map(maybe(number()))},
                                                    {"leverages", list(number())},
                                                    {"alias_sets", list(text())},
                                                    {"alias_matrix", matrix()},
                                                    {"correlation", matrix()}})));
}

Shape evaluate_document() {
  return joined(versioned({{"compare?", judged_design()}}), judged_design());
}

ShapeKeys run_counts() {
  return {{"directory", text()},     {"planned", integer()}, {"completed", integer()},
          {"infeasible", integer()}, {"failed", integer()},  {"timed_out", integer()},
          {"cancelled", integer()},  {"lost", integer()},    {"remaining", integer()}};
}

Shape run_document() {
  const Shape done =
      joined(versioned(run_counts()), object({{"interrupted", flag()}, {"gave_up", anything()}}));
  return either({done, dry_run_document()});
}

Shape status_document() {
  const Shape flagged = object({{"run", integer()}, {"flags", list(text())}});
  return joined(versioned(run_counts()), object({{"time_left_s", maybe(number())},
                                                 {"flagged", list(flagged)},
                                                 {"bottlenecks", map(integer())},
                                                 {"best_run", maybe(integer())},
                                                 {"warnings", list(text())}}));
}

Shape restore_document() {
  return versioned({{"directory", text()},
                    {"runs", integer()},
                    {"files", list(text())},
                    {"moved", list(text())}});
}

Shape import_document() { return versioned({{"directory", text()}, {"runs", integer()}}); }

Shape augment_document() {
  const Shape added = object({{"run", integer()}, {"settings", map(either({number(), text()}))}});
  return versioned({{"directory", text()},
                    {"runs_before", integer()},
                    {"runs", integer()},
                    {"added", list(added)}});
}

Shape report_summary() {
  return versioned({{"status", text()},
                    {"headline", text()},
                    {"caveats", list(text())},
                    {"files", list(text())}});
}

Shape export_document() {
  return versioned({{"format", text()}, {"file", text()}, {"runs", integer()}});
}

Shape doctor_document() {
  const Shape now = object({{"cpu_busy_share", maybe(number())},
                            {"memory_available_bytes", maybe(number())},
                            {"swap_used_bytes", maybe(number())},
                            {"disk_free_bytes", maybe(number())},
                            {"disk_total_bytes", maybe(number())},
                            {"clock_synchronised", maybe(flag())}});
  const Shape finding = object({{"level", words({"problem", "doubtful", "optional"})},
                                {"what", text()},
                                {"remedy", text()}});
  return versioned({{"host", text()},
                    {"conditions", map(anything())},
                    {"now", now},
                    {"findings", list(finding)}});
}

Shape designs_document() {
  const Shape design = object({{"type", text()},
                               {"summary", text()},
                               {"source", text()},
                               {"options", list(text())},
                               {"default_model", text()}});
  return versioned({{"designs", list(design)}});
}

Shape workloads_document() {
  const Shape factor = object({{"name", text()},
                               {"kind", text()},
                               {"settings", text()},
                               {"unit", text()},
                               {"default", text()},
                               {"description", text()}});
  const Shape response = object({{"name", text()}, {"unit", text()}, {"description", text()}});
  const Shape workload = object({{"name", text()},
                                 {"summary", text()},
                                 {"factors", list(factor)},
                                 {"responses", list(response)}});
  return versioned({{"workloads", list(workload)}});
}

/// The result of the workload protocol.
Shape workload_document() {
  return object({{"responses", map(number())},
                 {"repeats?", map(list(number()))},
                 {"series?", map(list(number()))},
                 {"window?", list(number())},
                 {"steady?", flag()},
                 {"precision?", anything()},
                 {"stopped_by?", text()},
                 {"notes", map(anything())}});
}

/// A schema, of the study file or of one of these documents.
Shape schema_document() { return {{"$ref", "http://json-schema.org/draft-07/schema#"}}; }

Shape check_document() {
  return versioned({{"study", text()},
                    {"planned", integer()},
                    {"run", integer()},
                    {"settings", map(either({number(), text()}))},
                    {"status", text()},
                    {"reason", text()},
                    {"duration_s", number()},
                    {"responses", map(number())},
                    {"flags", list(text())},
                    {"printed", text()},
                    {"plan_s", maybe(number())}});
}

Shape completion_document() { return versioned({{"script", text()}}); }
Shape man_document() { return versioned({{"roff", text()}}); }

struct Document {
  std::string_view name;
  Shape (*shape)();
};

/// A command that prints a new document has a line here.
constexpr std::array kDocuments{
    Document{"init", init_document},
    Document{"check", check_document},
    Document{"plan", plan_document},
    Document{"evaluate", evaluate_document},
    Document{"run", run_document},
    Document{"status", status_document},
    Document{"restore", restore_document},
    Document{"import", import_document},
    Document{"confirm", confirm_document},
    Document{"augment", augment_document},
    Document{"fit", fit_document},
    Document{"optimize", optimum_document},
    Document{"report", report_summary},
    Document{"export", export_document},
    Document{"doctor", doctor_document},
    Document{"designs", designs_document},
    Document{"workloads", workloads_document},
    Document{"workload", workload_document},
    Document{"completion", completion_document},
    Document{"man", man_document},
    Document{"schema", schema_document},
    Document{"fit.json", fit_document},
    Document{"optimum.json", optimum_document},
    Document{"report.json", report_document},
};

}  // namespace

Shape dry_run_document() {
  const Shape run = object({{"run", integer()},
                            {"host", text()},
                            {"gpus", list(text())},
                            {"gpus_wanted", integer()},
                            {"cpus", list(integer())},
                            {"program", text()},
                            {"arguments", list(text())},
                            {"environment", map(text())},
                            {"working_directory", text()}});
  return versioned({{"runs", list(run)},
                    {"expected_run_s", maybe(number())},
                    {"expected_s", maybe(number())},
                    {"expected_gpu_hours", maybe(number())}});
}

Shape evaluation_basics() {
  return object({{"runs", integer()},
                 {"terms", integer()},
                 {"d_efficiency", maybe(number())},
                 {"a_efficiency", maybe(number())},
                 {"log_det", maybe(number())},
                 {"condition_number", maybe(number())},
                 {"vif", map(maybe(number()))},
                 {"aliases", list(text())}});
}

std::vector<std::string> document_names() {
  std::vector<std::string> names;
  for (const Document& document : kDocuments) names.emplace_back(document.name);
  return names;
}

std::string document_schema(const std::string& name) {
  const auto found = std::find_if(kDocuments.begin(), kDocuments.end(),
                                  [&](const Document& document) { return document.name == name; });
  Shape schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", "doetune " + name}};
  schema.update(found->shape());
  return schema.dump(2) + "\n";
}

}  // namespace doetune::cli
