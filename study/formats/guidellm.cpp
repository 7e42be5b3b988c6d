// GuideLLM 0.8: benchmarks.json, .yaml and .csv; each benchmark is a run.
// Source: its guidellm/benchmark/schemas and guidellm/benchmark/outputs/csv.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/formats/csv_runs.h"
#include "study/formats/format.h"
#include "study/formats/json_values.h"

namespace doetune::study {
namespace {

using nlohmann::json;

/// The percentiles that a cell of the CSV lists, in its order.
constexpr std::array<std::string_view, 11> kPercentiles{"p001", "p01", "p05", "p10", "p25", "p50",
                                                        "p75",  "p90", "p95", "p99", "p999"};

/// The names that the JSON has for groups of the CSV whose own names differ.
constexpr std::array<std::array<std::string_view, 3>, 5> kGroups{{
    {"Server Throughput", "Successful Requests/Sec", "requests_per_second"},
    {"Request Latency", "Successful Sec", "request_latency"},
    {"Token Throughput", "Successful Input Tokens/Sec", "prompt_tokens_per_second"},
    {"Token Throughput", "Successful Output Tokens/Sec", "output_tokens_per_second"},
    {"Token Throughput", "Successful Total Tokens/Sec", "tokens_per_second"},
}};

bool is_guidellm(const ResultFile& file) {
  if (file.csv.size() > 3 && file.csv[0].cells[0] == "Run Info") return true;
  const json* first = file.first_object();
  if (!first || !first->contains("benchmarks") || !(*first)["benchmarks"].is_array()) return false;
  const json& benchmarks = (*first)["benchmarks"];
  return !benchmarks.empty() && benchmarks[0].is_object() && benchmarks[0].contains("metrics");
}

/// Parameters repeat in a benchmark: the strategy says at which of its values it ran.
ColumnRole role_of_setting(const std::string& name) {
  return name.starts_with("strategy.") || name.starts_with("backend.") ? ColumnRole::kParameter
                                                                       : ColumnRole::kUnknown;
}

void set_values(const json& object, const std::string& prefix, RunTable& table, RunRow& run) {
  for_each_value(object, [&](const std::string& key, const std::string& cell) {
    table.set(run, prefix + key, role_of_setting(prefix + key), cell);
  });
}

void set_statistics(const std::string& name, const json& metric, RunTable& table, RunRow& run) {
  const auto successful = metric.find("successful");
  if (successful == metric.end() || !successful->is_object()) return;
  for (const auto& [statistic, value] : successful->items()) {
    if (value.is_number()) {
      table.set(run, name + "_" + statistic, ColumnRole::kMetric, cell_of(value));
    }
  }
  if (!successful->contains("percentiles") || !(*successful)["percentiles"].is_object()) return;
  for (const auto& [percentile, value] : (*successful)["percentiles"].items()) {
    table.set(run, name + "_" + percentile, ColumnRole::kMetric, cell_of(value));
  }
}

void fail_without_success(RunRow& run, const std::string& successful) {
  if (successful != "0") return;
  run.status = RunStatus::kFailed;
  run.reason = "no request succeeded";
}

void add_benchmark(const ResultFile& file, const json& benchmark, RunTable& table) {
  RunRow run;
  run.place = file.path.string();
  if (!benchmark.is_object() || !benchmark.contains("metrics") ||
      !benchmark["metrics"].is_object()) {
    table.warnings.push_back(
        fmt::format("{}: a benchmark without metrics; it is left out", run.place));
    return;
  }
  if (benchmark.contains("config")) set_values(benchmark["config"], "", table, run);
  for (const auto& [name, metric] : benchmark["metrics"].items()) {
    if (!metric.is_object()) continue;
    set_statistics(name, metric, table, run);
    if (name == "request_totals" && metric.contains("successful")) {
      fail_without_success(run, cell_of(metric["successful"]));
    }
  }
  table.rows.push_back(std::move(run));
}

/// "concurrent@4" as the strategy and what it varies.
void set_strategy(const std::string& text, RunTable& table, RunRow& run) {
  const std::size_t at = text.find('@');
  const std::string kind = text.substr(0, at);
  table.set(run, "strategy.type_", ColumnRole::kParameter, kind);
  if (at == text.npos) return;
  table.set(run, kind == "concurrent" ? "strategy.streams" : "strategy.rate",
            ColumnRole::kParameter, text.substr(at + 1));
}

std::string name_of_group(const std::string& group, const std::string& field) {
  for (const auto& [csv_group, csv_field, name] : kGroups) {
    if (group == csv_group && field == csv_field) return std::string(name);
  }
  const std::string_view word = "Successful ";
  return plain_name_of(group + " " + (field.starts_with(word) ? field.substr(word.size()) : field));
}

void set_percentiles(const std::string& name, const std::string& list, RunTable& table,
                     RunRow& run) {
  const json values = json::parse(list, nullptr, false);
  if (!values.is_array() || values.size() != kPercentiles.size()) return;
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    table.set(run, fmt::format("{}_{}", name, kPercentiles[i]), ColumnRole::kMetric,
              cell_of(values[i]));
  }
}

void set_csv_cell(const std::string& group, const std::string& field, const std::string& statistic,
                  const std::string& cell, RunTable& table, RunRow& run) {
  if (group == "Benchmark" && field == "Strategy") {
    set_strategy(cell, table, run);
  } else if (group == "Run Info" && field == "Backend") {
    set_values(json::parse(cell, nullptr, false), "backend.", table, run);
  } else if (group == "Request Counts" && field == "Successful") {
    fail_without_success(run, cell);
  } else if (statistic == "Percentiles") {
    set_percentiles(name_of_group(group, field), cell, table, run);
  } else if (field.starts_with("Successful ") && !statistic.empty()) {
    table.set(run, name_of_group(group, field) + "_" + plain_name_of(statistic),
              ColumnRole::kMetric, cell);
  }
}

void read_guidellm(const ResultFile& file, RunTable& table) {
  for (const JsonDocument& document : file.documents) {
    if (!document.value.is_object() || !document.value.contains("benchmarks")) continue;
    for (const json& benchmark : document.value["benchmarks"]) {
      add_benchmark(file, benchmark, table);
    }
  }
  if (file.csv.size() < 4) return;
  constexpr std::size_t kHeaderRows = 3;  // group, field, statistic or unit
  const std::size_t columns =
      std::min({file.csv[0].cells.size(), file.csv[1].cells.size(), file.csv[2].cells.size()});
  add_csv_runs(
      file, table,
      [&](const CsvRow& row, RunRow& run) {
        for (std::size_t i = 0; i < columns; ++i) {
          set_csv_cell(file.csv[0].cells[i], file.csv[1].cells[i], file.csv[2].cells[i],
                       row.cells[i], table, run);
        }
      },
      kHeaderRows);
}

}  // namespace

const ResultFormat kGuidellmFormat{
    "guidellm", "GuideLLM's benchmarks.json, .yaml or .csv, one run per benchmark", is_guidellm,
    read_guidellm};

}  // namespace doetune::study
