// AIPerf 0.13: profile_export_aiperf.json (a run with its configuration) and .csv (its metrics
// alone). Source: its src/aiperf/exporters/metrics_json_exporter.py and metrics_csv_exporter.py.
#include <fmt/format.h>

#include "study/formats/format.h"
#include "study/formats/json_values.h"

namespace doetune::study {
namespace {

using nlohmann::json;

bool is_aiperf(const ResultFile& file) {
  if (file.has_column("Metric") && (file.has_column("avg") || file.has_column("Value")))
    return true;
  const json* first = file.first_object();
  return first && first->contains("input_config") && first->contains("request_latency");
}

/// request_throughput of {"unit": ..., "avg": ...}; request_latency_p99 where there are
/// percentiles.
void set_metric(const std::string& tag, const json& metric, RunTable& table, RunRow& run) {
  if (!metric.is_object() || !metric.contains("unit")) return;
  const bool is_single = metric.size() == 2;
  for (const auto& [statistic, value] : metric.items()) {
    if (!value.is_number()) continue;
    const std::string name = is_single ? tag : tag + "_" + statistic;
    table.set(run, name, ColumnRole::kMetric, cell_of(value));
  }
}

void set_status(const json& document, RunRow& run) {
  const auto is = [&](const char* key, bool value) {
    const auto found = document.find(key);
    return found != document.end() && found->is_boolean() && found->get<bool>() == value;
  };
  if (is("was_cancelled", true)) {
    run.status = RunStatus::kCancelled;
    run.reason = "cancelled";
  } else if (is("is_complete", false)) {
    run.status = RunStatus::kFailed;
    run.reason = fmt::format("incomplete: {:.200}", text_of_key(document, "incomplete_reason"));
  }
}

void add_aiperf_run(const ResultFile& file, const JsonDocument& document, RunTable& table) {
  RunRow run;
  run.place = file.path.string();
  if (!document.value.is_object()) return;
  set_status(document.value, run);
  for (const auto& [key, value] : document.value.items()) {
    if (key != "input_config") {
      set_metric(key, value, table, run);
      continue;
    }
    for_each_value(value, [&](const std::string& name, const std::string& cell) {
      const bool is_output = name.starts_with("artifacts.");
      table.set(run, name, is_output ? ColumnRole::kUnknown : ColumnRole::kParameter, cell);
    });
  }
  table.rows.push_back(std::move(run));
}

/// Sections with a header each: Metric,avg,min,... and Metric,Value.
void add_aiperf_csv(const ResultFile& file, RunTable& table) {
  RunRow run;
  run.place = file.path.string();
  std::vector<std::string> header;
  for (const CsvRow& row : file.csv) {
    if (row.cells[0] == "Metric") {
      header = row.cells;
    } else if (row.cells.size() != header.size()) {
      header.clear();  // another section: telemetry of GPUs
    } else {
      const std::string tag = plain_name_of(row.cells[0]);
      for (std::size_t i = 1; i < header.size(); ++i) {
        table.set(run, header[i] == "Value" ? tag : tag + "_" + header[i], ColumnRole::kMetric,
                  row.cells[i]);
      }
    }
  }
  table.rows.push_back(std::move(run));
}

void read_aiperf(const ResultFile& file, RunTable& table) {
  for (const JsonDocument& document : file.documents) add_aiperf_run(file, document, table);
  if (!file.csv.empty()) add_aiperf_csv(file, table);
}

/// Parts of a run by time, and means over several runs.
bool repeats_aiperf_runs(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  return stem.ends_with("_timeslices") || stem.ends_with("_aggregate");
}

}  // namespace

const ResultFormat kAiperfFormat{"aiperf",
                                 "AIPerf's profile_export_aiperf.json or .csv, one run per file",
                                 is_aiperf, read_aiperf, repeats_aiperf_runs};

}  // namespace doetune::study
