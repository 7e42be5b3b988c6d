#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "analysis/conditions.h"
#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/version.h"
#include "reports/page/glossary.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"
#include "study/files.h"

namespace doetune::reports {
namespace {

/// The distinct values of a field over all records, in order.
template <class Field>
std::string distinct(const analysis::Analysis& analysis, const Field& field) {
  std::set<std::string> values;
  for (const auto& [run, record] : analysis.records) {
    if (!(record.*field).empty()) values.insert(record.*field);
  }
  return values.empty() ? "not recorded" : fmt::format("{}", fmt::join(values, ", "));
}

constexpr std::size_t kDate = 10;  // length of "2026-11-22"

/// "2026-11-22 13:55:24" from "2026-11-22T13:55:24.783Z".
std::string moment(std::string iso) {
  constexpr std::size_t kSeconds = 19;
  if (iso.size() < kSeconds || iso[kDate] != 'T') return iso;
  iso[kDate] = ' ';
  return iso.substr(0, kSeconds);
}

std::string dates(const analysis::Analysis& analysis) {
  std::set<std::string> starts;
  for (const auto& [run, record] : analysis.records) {
    if (!record.start.empty()) starts.insert(record.start);
  }
  if (starts.empty()) return "not recorded";
  const std::string first = moment(*starts.begin()), last = moment(*starts.rbegin());
  const bool same_day = first.substr(0, kDate) == last.substr(0, kDate);
  return first + " to " + (same_day ? last.substr(kDate + 1) : last) + " UTC";
}

/// "y = 3.2 + 1.5 a - 0.25 a*b", in natural units, six significant digits.
std::string equation(const analysis::ResponseAnalysis& response) {
  std::string text = analysis::fitted_quantity(response) + " =";
  bool first = true;
  for (const surfaces::NaturalCoefficient& c : response.fit->natural_coefficients) {
    const char* sign = c.estimate < 0 ? (first ? " -" : " - ") : (first ? " " : " + ");
    text +=
        fmt::format("{}{:.6g}{}", sign, std::abs(c.estimate), c.term == "1" ? "" : " " + c.term);
    first = false;
  }
  return text;
}

/// "fccd, 20 runs and 10 for confirmation, seed 7".
std::string design_text(const analysis::Analysis& analysis) {
  const study::Study& study = analysis.directory->study;
  const std::vector<study::PlannedRun>& runs = analysis.directory->plan.runs;
  const auto validating = static_cast<int>(
      std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.validates(); }));
  return fmt::format("{}, {}{}, seed {}", study.design.type,
                     analysis::count_of(static_cast<int>(runs.size()) - validating, "run"),
                     validating == 0 ? "" : fmt::format(" and {} for confirmation", validating),
                     study.seed);
}

void write_fact(std::string_view name, std::string_view value, Markup& out) {
  out.element("dt", name).element("dd", value);
}

/// The machines, their drivers and the source revision, for each set of conditions.
void write_conditions(const std::vector<analysis::RunConditions>& conditions, Markup& out) {
  constexpr std::size_t kMax = 8;
  for (std::size_t i = 0; i < std::min(conditions.size(), kMax); ++i) {
    const analysis::RunConditions& own = conditions[i];
    write_fact(
        conditions.size() == 1 ? "Conditions" : "Conditions of " + analysis::runs_text(own.runs),
        fmt::format("{} (conditions/{}.json)", analysis::conditions_text(own), own.id), out);
  }
  if (conditions.size() > kMax) {
    write_fact("Further conditions", std::to_string(conditions.size() - kMax), out);
  }
}

/// The study file, and how to reproduce the study.
void write_study_file(const analysis::Analysis& analysis, Markup& out) {
  const std::filesystem::path file = analysis.directory->path / "study.yaml";
  if (!std::filesystem::exists(file)) return;
  open_details("The study file", out);
  out.element("pre", study::read_file(file)).close();
}

}  // namespace

void write_provenance(const Page& page, Markup& out) {
  const analysis::Analysis& analysis = page.analysis;
  const study::Study& study = analysis.directory->study;
  const auto conditions = analysis::run_conditions(analysis.directory->path, analysis.records);
  out.open("dl", {{"class", "facts"}});
  write_fact("Study", study.name, out);
  write_fact("Design", design_text(analysis), out);
  write_fact("Model", study.model_name, out);
  write_fact("Plan hash", analysis.directory->plan_hash, out);
  write_fact("Runs started", dates(analysis), out);
  const std::string hosts = distinct(analysis, &study::RunRecord::host);
  write_fact("Hosts", hosts, out);
  write_fact("GPUs", distinct(analysis, &study::RunRecord::gpu), out);
  write_conditions(conditions, out);
  write_fact("Software", fmt::format("doetune {}", version()), out);
  if (hosts != "imported" && !analysis.records.empty()) {
    write_fact("To repeat",
               "doetune plan study.yaml, then doetune run: the same runs in the same order", out);
  }
  write_fact(
      "Data",
      "results.csv, fit.json, optimum.json, runs.jsonl and study.yaml in the study directory", out);
  out.close();
  for (const std::string& note : analysis.directory->plan.notes) out.element("p", note);
  for (const std::string& warning : analysis.warnings) out.element("p", warning);
  if (const auto differences = analysis::condition_differences(conditions); !differences.empty()) {
    out.element("p", fmt::format("Runs were made under different conditions: {}.",
                                 fmt::join(differences, "; ")));
  }
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (!response.fit) continue;
    out.element("h3", response.response.name + " in natural units" +
                          (response.other ? ": the polynomial; predictions come from the " +
                                                doe::word_of(response.kind)
                                          : ""));
    out.element("pre", equation(response));
  }
  write_study_file(analysis, out);
  write_glossary(out);
}

}  // namespace doetune::reports
