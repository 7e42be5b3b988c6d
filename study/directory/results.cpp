#include "study/directory/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "doe/expression.h"
#include "study/tables/csv.h"

namespace doetune::study {
namespace {

std::string exact_text(double value) { return fmt::format("{}", value); }

std::vector<std::string> header(const Study& study, bool whole_plots) {
  std::vector<std::string> cells = plan_header(study, whole_plots);
  for (const char* name : {"attempt", "status", "host", "gpu", "start", "duration_s"}) {
    cells.push_back(name);
  }
  for (const Response& response : study.responses) cells.push_back(response.name);
  return cells;
}

void add_measured_cells(const Study& study, const RunRecord& record,
                        std::vector<std::string>& cells) {
  cells.push_back(fmt::format("{}", record.attempt));
  cells.push_back(std::string(run_status_name(record.status)));
  cells.push_back(record.host);
  cells.push_back(record.gpu);
  cells.push_back(record.start);
  cells.push_back(exact_text(record.duration_s));
  for (const Response& response : study.responses) {
    const auto measured = record.responses.find(response.name);
    cells.push_back(measured == record.responses.end() ? "" : exact_text(measured->second));
  }
}

/// The first response with a goal whose transform does not take its value, and why; empty if there
/// is none.
std::optional<std::string> beyond_transforms(const Study& study, const RunRecord& record) {
  for (const Response& response : study.responses) {
    const auto value = record.responses.find(response.name);
    if (!response.goal || value == record.responses.end()) continue;
    if (doe::has_value(response.transform, value->second)) continue;
    return fmt::format("{} has a value that `transform: {}` does not take, which needs {}",
                       response.name, doe::word_of(response.transform),
                       doe::domain_of(response.transform));
  }
  return std::nullopt;
}

}  // namespace

void add_derived_responses(const Study& study, const PlannedRun& run, RunRecord& record) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const auto value_in = [&](const std::map<std::string, double>& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? missing : found->second;
  };
  std::vector<std::string> names = formula_names(study);
  std::vector<double> values = run.settings;
  for (std::size_t i = values.size(); i < names.size(); ++i) {
    const bool is_response = i < run.settings.size() + study.responses.size();
    values.push_back(value_in(is_response ? record.responses : record.telemetry, names[i]));
  }
  for (std::size_t i = 0; i < study.responses.size(); ++i) {
    const Response& response = study.responses[i];
    if (response.formula.empty()) continue;
    const doe::Expression formula(response.formula, names);
    const auto used = formula.used();
    const bool known = std::all_of(used.begin(), used.end(),
                                   [&](int variable) { return std::isfinite(values[variable]); });
    const double value = known ? formula.value(values) : missing;
    values[study.factors.size() + i] = value;
    record.responses.erase(response.name);
    if (std::isfinite(value)) record.responses[response.name] = value;
  }
}

std::map<int, RunRecord> with_derived_responses(const StudyDirectory& directory,
                                                std::map<int, RunRecord> final_records) {
  for (auto& [run, record] : final_records) {
    const PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
    add_derived_responses(directory.study, planned, record);
  }
  return final_records;
}

std::map<int, RunRecord> usable_records(const StudyDirectory& directory,
                                        std::map<int, RunRecord> final_records) {
  auto records = with_derived_responses(directory, std::move(final_records));
  for (auto& [run, record] : records) {
    if (record.status != RunStatus::kCompleted) continue;
    if (auto reason = beyond_transforms(directory.study, record)) {
      record.status = RunStatus::kFailed;
      record.reason = *std::move(reason);
    }
  }
  return records;
}

std::string results_csv(const StudyDirectory& directory, const std::map<int, RunRecord>& records) {
  const bool whole_plots = directory.plan.has_whole_plots();
  const std::vector<std::string> columns = header(directory.study, whole_plots);
  const auto row = [](std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = shown_as_text(cell);
    return csv_row(cells);
  };
  std::string text = row(columns);
  for (const PlannedRun& run : directory.plan.runs) {
    std::vector<std::string> cells = plan_cells(directory.study, run, whole_plots);
    if (const auto found = records.find(run.run); found != records.end()) {
      RunRecord record = found->second;
      add_derived_responses(directory.study, run, record);
      add_measured_cells(directory.study, record, cells);
    }
    cells.resize(columns.size());
    text += row(cells);
  }
  return text;
}

}  // namespace doetune::study
