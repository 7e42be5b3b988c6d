// vLLM 0.33: `vllm bench serve --save-result` and --append-result (a JSON object a run), and `vllm
// bench sweep serve` (run=N.json, run=N.failure.json, SERVE-*-failure.json, summary.json,
// summary.csv). Source: its vllm/benchmarks/serve.py and sweep/serve.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "study/formats/csv_runs.h"
#include "study/formats/format.h"
#include "study/formats/json_values.h"

namespace doetune::study {
namespace {

using nlohmann::json;

/// What it measures, beside names such as mean_ttft_ms and spec_decode_acceptance_rate. Anything
/// else is a parameter: of the benchmark, of --metadata, or of the sweep.
constexpr std::array<std::string_view, 14> kMeasured{"duration",
                                                     "completed",
                                                     "failed",
                                                     "total_input_tokens",
                                                     "total_output_tokens",
                                                     "request_throughput",
                                                     "request_goodput",
                                                     "output_throughput",
                                                     "total_token_throughput",
                                                     "max_output_tokens_per_s",
                                                     "max_concurrent_requests",
                                                     "rtfx",
                                                     "total_input_sequences",
                                                     "input_sequence_throughput"};

/// What identifies a run and is not varied.
constexpr std::array<std::string_view, 8> kIdentity{
    "date", "endpoint_type", "tokenizer_id", "label", "run_number", "_benchmark_name", "seed", ""};

ColumnRole role_of_vllm(const std::string& name) {
  const auto is_among = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_among(kIdentity)) return ColumnRole::kUnknown;
  const bool is_statistic =
      name.ends_with("_ms") && (name.starts_with("mean_") || name.starts_with("median_") ||
                                name.starts_with("std_") || name.starts_with('p'));
  const bool is_measured = is_statistic || is_among(kMeasured) ||
                           name.starts_with("spec_decode_") || name.starts_with("diffusion_");
  return is_measured ? ColumnRole::kMetric : ColumnRole::kParameter;
}

bool is_failure(const json& value) {
  return value.is_object() && value.contains("error_type") && value.contains("serve_overrides");
}

bool is_vllm(const ResultFile& file) {
  if (file.has_column("request_throughput") && file.has_column("completed")) return true;
  const json* first = file.first_object();
  return first && (is_failure(*first) ||
                   (first->contains("request_throughput") && first->contains("completed")));
}

void set_failure(const json& failure, RunTable& table, RunRow& run) {
  const std::string error = text_of_key(failure, "error");
  const bool no_memory =
      error.find("out of memory") != error.npos || error.find("OutOfMemory") != error.npos;
  run.status = no_memory ? RunStatus::kInfeasible : RunStatus::kFailed;
  run.reason = fmt::format("{}: {:.200}", text_of_key(failure, "error_type"), error);
  for (const char* overrides : {"serve_overrides", "bench_overrides"}) {
    if (!failure.contains(overrides)) continue;
    for_each_value(failure[overrides], [&](const std::string& key, const std::string& cell) {
      table.set(run, key, ColumnRole::kParameter, cell);
    });
  }
}

void fail_without_requests(RunRow& run, const std::string& completed) {
  if (completed != "0") return;
  run.status = RunStatus::kFailed;
  run.reason = "no request completed";
}

void add_vllm_run(const ResultFile& file, int line, const json& result, RunTable& table) {
  RunRow run;
  run.line = line;
  run.place = file.at(line);
  if (is_failure(result)) {
    set_failure(result, table, run);
  } else if (result.is_object() && result.contains("request_throughput")) {
    for_each_value(result, [&](const std::string& key, const std::string& cell) {
      table.set(run, key, role_of_vllm(key), cell);
    });
    if (const auto completed = result.find("completed"); completed != result.end()) {
      fail_without_requests(run, cell_of(*completed));
    }
  } else {
    table.warnings.push_back(
        fmt::format("{}: expected an object with request_throughput; it is left out", run.place));
    return;
  }
  table.rows.push_back(std::move(run));
}

void read_vllm(const ResultFile& file, RunTable& table) {
  for (const JsonDocument& document : file.documents) {
    if (!document.value.is_array()) {
      add_vllm_run(file, document.line, document.value, table);
      continue;
    }
    for (const json& result : document.value) add_vllm_run(file, document.line, result, table);
  }
  if (file.csv.empty()) return;
  const std::vector<std::string>& header = file.csv.front().cells;
  add_csv_runs(file, table, [&](const CsvRow& row, RunRow& run) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (row.cells[i].starts_with('[')) continue;  // the single requests
      table.set(run, header[i], role_of_vllm(header[i]), row.cells[i]);
    }
    fail_without_requests(run, csv_cell(file, row, "completed"));
  });
}

/// A sweep's summaries hold its runs once more, the warm-up is not a measurement, and a failure
/// beside the run's result is that of an attempt before it, or came after the measurement.
bool repeats_vllm_runs(const std::filesystem::path& file) {
  const std::filesystem::path stem = file.stem();
  if (stem == "summary" || stem == "warmup") return true;
  std::error_code error;
  return stem.extension() == ".failure" &&
         std::filesystem::exists(file.parent_path() / stem.stem().concat(".json"), error);
}

bool is_failed_server(const RunRow& run) {
  const std::string name = std::filesystem::path(run.place).filename().string();
  return run.status && name.starts_with("SERVE") && name.find("-failure.json") != name.npos;
}

/// The parameters of a run that a failed server does not name: those of the load.
std::vector<std::string> load_of(const RunTable& table, const RunRow& run, const RunRow& server) {
  std::vector<std::string> load(table.columns.size());
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (table.columns[i].role == ColumnRole::kParameter && table.cell(server, i).empty())
      load[i] = table.cell(run, i);
  }
  return load;
}

/// The distinct loads of other servers than one that failed. A failure names fewer parameters than
/// a result, so that its load would be one more.
std::set<std::vector<std::string>> loads_beside(const RunTable& table, const RunRow& server,
                                                const std::vector<RunRow>& others) {
  std::set<std::vector<std::string>> loads, of_failures;
  for (const RunRow& run : others)
    (run.status ? of_failures : loads).insert(load_of(table, run, server));
  return loads.empty() ? of_failures : loads;
}

/// A server that did not start fails under each load that was applied to the others.
void add_loads_of_failed_servers(RunTable& table) {
  const auto failed =
      std::stable_partition(table.rows.begin(), table.rows.end(),
                            [](const RunRow& run) { return !is_failed_server(run); });
  const std::vector<RunRow> servers(failed, table.rows.end());
  if (servers.size() == table.rows.size()) return;  // nothing tells the loads
  table.rows.erase(failed, table.rows.end());
  const std::vector<RunRow> others = table.rows;
  for (const RunRow& server : servers) {
    for (const std::vector<std::string>& load : loads_beside(table, server, others)) {
      RunRow& run = table.rows.emplace_back(server);
      run.cells.resize(load.size());
      for (std::size_t i = 0; i < load.size(); ++i) {
        if (!load[i].empty()) run.cells[i] = load[i];
      }
    }
  }
}

}  // namespace

const ResultFormat kVllmFormat{
    "vllm",
    "vllm bench serve's JSON or JSON lines, and vllm bench sweep's folder",
    is_vllm,
    read_vllm,
    repeats_vllm_runs,
    add_loads_of_failed_servers};

}  // namespace doetune::study
