// Optuna 5.0: the CSV of trials_dataframe(), and its SQLite storage.
// Source: its optuna/study/_dataframe.py and optuna/storages/_rdb/models.py.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/nearest_name.h"
#include "study/error.h"
#include "study/formats/csv_runs.h"
#include "study/formats/format.h"
#include "study/formats/json_values.h"
#include "study/formats/sqlite_database.h"

namespace doetune::study {
namespace {

using nlohmann::json;

bool is_optuna(const ResultFile& file) {
  return file.is_sqlite || (file.has_column("number") && file.has_column("state"));
}

/// Adds a finished trial; counts the others. A pruned trial was stopped because it did not look
/// good: its settings can run, so that it has failed and is not infeasible.
void add_trial(RunRow run, const std::string& state, int& unfinished, RunTable& table) {
  if (state == "PRUNED" || state == "FAIL") {
    run.status = RunStatus::kFailed;
    run.reason = state == "PRUNED" ? "Optuna pruned the trial" : "the trial failed";
  } else if (state != "COMPLETE") {
    ++unfinished;
    return;
  }
  table.rows.push_back(std::move(run));
}

void warn_of_unfinished(const ResultFile& file, int unfinished, RunTable& table) {
  if (unfinished == 0) return;
  table.warnings.push_back(fmt::format("{}: {} unfinished trials (RUNNING, WAITING) are left out",
                                       file.path.string(), unfinished));
}

/// "params_batch" is the parameter batch, "values_latency" the metric latency.
void set_trial_cell(const std::string& name, const std::string& cell, RunTable& table,
                    RunRow& run) {
  const auto set_as = [&](std::string_view prefix, ColumnRole role) {
    if (!name.starts_with(prefix)) return false;
    table.set(run, name, role, cell, plain_name_of(name.substr(prefix.size())));
    return true;
  };
  if (name == "value") table.set(run, name, ColumnRole::kMetric, cell);
  if (set_as("params_", ColumnRole::kParameter)) return;
  if (set_as("values_", ColumnRole::kMetric)) return;
  set_as("user_attrs_", ColumnRole::kMetric);
}

void read_dataframe(const ResultFile& file, RunTable& table) {
  const std::vector<std::string>& header = file.csv.front().cells;
  int unfinished = 0;
  RunTable all = table;
  all.rows.clear();
  add_csv_runs(file, all, [&](const CsvRow& row, RunRow& run) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      set_trial_cell(header[i], row.cells[i], all, run);
    }
    run.reason = csv_cell(file, row, "state");
  });
  std::vector<RunRow> rows = std::move(all.rows);
  all.rows = std::move(table.rows);
  table = std::move(all);
  for (RunRow& run : rows) {
    const std::string state = std::exchange(run.reason, "");
    add_trial(std::move(run), state, unfinished, table);
  }
  warn_of_unfinished(file, unfinished, table);
}

class StorageReader {
 public:
  StorageReader(const ResultFile& file, RunTable& table)
      : file_(file), table_(table), database_(file.path) {}

  void read() {
    if (!database_.has_table("trials") || !database_.has_table("trial_params")) {
      throw StudyError(fmt::format(
          "{}: an SQLite database without Optuna's tables studies, trials and trial_params",
          file_.path.string()));
    }
    const std::int64_t study = chosen_study();
    read_names(study);
    auto trials = database_.query(
        "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY trial_id", study);
    int unfinished = 0;
    while (trials.next()) {
      RunRow run;
      run.place = fmt::format("{}: trial {}", file_.path.string(), trials.integer(1));
      const std::int64_t trial = trials.integer(0);
      set_parameters(trial, run);
      set_values(trial, run);
      set_attributes(trial, run);
      add_trial(std::move(run), trials.text(2), unfinished, table_);
    }
    warn_of_unfinished(file_, unfinished, table_);
  }

 private:
  std::int64_t chosen_study() {
    std::map<std::string, std::int64_t> studies;
    auto rows = database_.query("SELECT study_id, study_name FROM studies ORDER BY study_id");
    while (rows.next()) studies.emplace(rows.text(1), rows.integer(0));
    std::vector<std::string> names;
    for (const auto& [name, id] : studies) names.push_back(name);
    if (studies.empty()) {
      throw StudyError(fmt::format("{}: the storage has no study", file_.path.string()));
    }
    if (file_.study.empty() && studies.size() == 1) return studies.begin()->second;
    if (file_.study.empty()) {
      throw StudyError(fmt::format("{}: the storage has the studies {}; say which: --study NAME",
                                   file_.path.string(), fmt::join(names, ", ")));
    }
    const auto found = studies.find(file_.study);
    if (found != studies.end()) return found->second;
    throw StudyError(fmt::format("{}: there is no study '{}'{}", file_.path.string(), file_.study,
                                 did_you_mean_or_list(file_.study, names)));
  }

  /// The names of the values, as the columns of trials_dataframe() have them.
  void read_names(std::int64_t study) {
    json given;
    auto attributes = database_.query(
        "SELECT value_json FROM study_system_attributes WHERE study_id = ? AND key = "
        "'study:metric_names'",
        study);
    if (attributes.next()) given = json::parse(attributes.text(0), nullptr, false);
    auto rows = database_.query("SELECT COUNT(*) FROM study_directions WHERE study_id = ?", study);
    const std::int64_t count = rows.next() ? rows.integer(0) : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool is_named = given.is_array() && at < given.size() && given[at].is_string();
      const std::string name = is_named ? given[at].get<std::string>() : std::to_string(i);
      const bool is_only = count == 1 && !is_named;
      names_.push_back(is_only ? "value" : "values_" + name);
      table_.column(names_.back(), ColumnRole::kMetric, is_only ? "" : plain_name_of(name));
    }
  }

  /// A parameter is stored as a number: of a category the index of the choice.
  void set_parameters(std::int64_t trial, RunRow& run) {
    auto rows = database_.query(
        "SELECT param_name, param_value, distribution_json FROM trial_params WHERE trial_id = ? "
        "ORDER BY param_id",
        trial);
    while (rows.next()) {
      const json distribution = json::parse(rows.text(2), nullptr, false);
      table_.set(run, "params_" + rows.text(0), ColumnRole::kParameter,
                 parameter_of(rows.number(1), distribution), plain_name_of(rows.text(0)));
    }
  }

  static std::string parameter_of(double value, const json& distribution) {
    if (!distribution.is_object()) return "";
    const auto attributes = distribution.find("attributes");
    if (attributes != distribution.end() && attributes->is_object() &&
        attributes->contains("choices") && (*attributes)["choices"].is_array()) {
      const json& choices = (*attributes)["choices"];
      const bool is_choice = value >= 0 && value < static_cast<double>(choices.size());
      return is_choice ? cell_of(choices[static_cast<std::size_t>(value)]) : "";
    }
    return fmt::format("{}", value);
  }

  void set_values(std::int64_t trial, RunRow& run) {
    auto rows = database_.query(
        "SELECT objective, value FROM trial_values WHERE trial_id = ? ORDER BY objective", trial);
    while (rows.next()) {
      const std::int64_t objective = rows.integer(0);
      if (objective < 0 || objective >= static_cast<std::int64_t>(names_.size())) continue;
      if (rows.is_null(1)) continue;
      table_.set(run, names_[static_cast<std::size_t>(objective)], ColumnRole::kMetric,
                 fmt::format("{}", rows.number(1)));
    }
  }

  void set_attributes(std::int64_t trial, RunRow& run) {
    auto rows = database_.query(
        "SELECT key, value_json FROM trial_user_attributes WHERE trial_id = ? ORDER BY key", trial);
    while (rows.next()) {
      const json value = json::parse(rows.text(1), nullptr, false);
      table_.set(run, "user_attrs_" + rows.text(0), ColumnRole::kMetric, cell_of(value),
                 plain_name_of(rows.text(0)));
    }
  }

  const ResultFile& file_;
  RunTable& table_;
  SqliteDatabase database_;
  std::vector<std::string> names_;
};

void read_optuna(const ResultFile& file, RunTable& table) {
  file.is_sqlite ? StorageReader(file, table).read() : read_dataframe(file, table);
}

}  // namespace

const ResultFormat kOptunaFormat{"optuna",
                                 "Optuna's SQLite storage, or the CSV of trials_dataframe()",
                                 is_optuna,
                                 read_optuna,
                                 {}};

}  // namespace doetune::study
