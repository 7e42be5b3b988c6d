// hyperfine 1.15: --export-json, one run per command, with the parameters of -L and -P.
// Source: files that it wrote, and its man page.
#include <fmt/format.h>

#include <cmath>

#include "study/formats/format.h"
#include "study/formats/json_values.h"

namespace doetune::study {
namespace {

using nlohmann::json;

constexpr int kCannotRun = 77;  // the exit code of settings that cannot run

bool is_hyperfine(const ResultFile& file) {
  const json* first = file.first_object();
  if (!first || !first->contains("results") || !(*first)["results"].is_array()) return false;
  const json& results = (*first)["results"];
  return !results.empty() && results[0].is_object() && results[0].contains("command") &&
         results[0].contains("mean");
}

/// The times are repeats within one run: hyperfine executes them one after another, so they do not
/// show how runs at different times differ, which replicates are for.
Repeats repeats_of(const json& result) {
  Repeats repeats;
  if (!result.contains("times") || !result["times"].is_array()) return repeats;
  const auto mean = number_of(result, "mean"), deviation = number_of(result, "stddev");
  if (!mean || !deviation) return repeats;
  repeats.count = static_cast<int>(result["times"].size());
  repeats.mean = *mean;
  repeats.variance = *deviation * *deviation;
  return repeats;
}

void set_exit_status(const json& result, RunRow& run) {
  if (!result.contains("exit_codes") || !result["exit_codes"].is_array()) return;
  for (const json& code : result["exit_codes"]) {
    if (code.is_number_integer() && code.get<std::int64_t>() == 0) continue;
    const bool cannot_run = code.is_number_integer() && code.get<std::int64_t>() == kCannotRun;
    run.status = cannot_run ? RunStatus::kInfeasible : RunStatus::kFailed;
    run.reason = code.is_null() ? "the command was killed" : "exit code " + code.dump();
    return;
  }
}

void add_hyperfine_run(const ResultFile& file, const json& result, RunTable& table) {
  RunRow run;
  run.place = file.path.string();
  if (!result.is_object() || !number_of(result, "mean")) {
    table.warnings.push_back(
        fmt::format("{}: a result without its mean time; it is left out", run.place));
    return;
  }
  const bool has_parameters = result.contains("parameters") && result["parameters"].is_object();
  for (const auto& [key, value] : result.items()) {
    if (value.is_number()) table.set(run, key, ColumnRole::kMetric, cell_of(value));
  }
  // Without parameters, commands are compared.
  table.set(run, "command", has_parameters ? ColumnRole::kUnknown : ColumnRole::kParameter,
            text_of_key(result, "command"));
  if (has_parameters) {
    for_each_value(result["parameters"], [&](const std::string& name, const std::string& cell) {
      table.set(run, name, ColumnRole::kParameter, cell);
    });
  }
  if (const Repeats repeats = repeats_of(result); repeats.count > 1) run.repeats["mean"] = repeats;
  set_exit_status(result, run);
  table.rows.push_back(std::move(run));
}

void read_hyperfine(const ResultFile& file, RunTable& table) {
  for (const JsonDocument& document : file.documents) {
    if (!document.value.is_object() || !document.value.contains("results")) continue;
    for (const json& result : document.value["results"]) add_hyperfine_run(file, result, table);
  }
}

}  // namespace

const ResultFormat kHyperfineFormat{"hyperfine", "hyperfine's --export-json, one run per command",
                                    is_hyperfine, read_hyperfine};

}  // namespace doetune::study
