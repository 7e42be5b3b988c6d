// A table of runs as texts: a CSV file, or what another tool reports of its runs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "study/run_record.h"

namespace doetune::study {

enum class ColumnRole { kUnknown, kParameter, kMetric };

struct RunColumn {
  std::string name;  ///< as in the file: "params_batch", "p99 Latency (ms)"
  ColumnRole role = ColumnRole::kUnknown;
  std::string plain_name;  ///< as a study may name it: "batch", "p99_latency"
};

/// Lower case letters, digits and underscores: "p99 Latency (ms)" becomes p99_latency, without the
/// unit that ends it in parentheses.
std::string plain_name_of(const std::string& name);

struct RunRow {
  std::string place;                ///< "file:line", or the file of a row without a line
  int line = 0;                     ///< from 1; 0: none
  std::vector<std::string> cells;   ///< of the columns in order; cells at the end may be missing
  std::optional<RunStatus> status;  ///< as the tool reports it
  std::string reason;               ///< why the run did not complete
  std::map<std::string, Repeats> repeats;  ///< by column name
};

class RunTable {
 public:
  std::string place;  ///< where the columns are named: "sweep.csv:1"
  /// Whether another tool reports the runs. A row with a mistake is then left out, with a warning,
  /// and columns are also found by their plain names.
  bool reported = false;
  std::vector<RunColumn> columns;
  std::vector<RunRow> rows;
  std::vector<std::string> warnings;

  /// The column of that name, added if there is none. `plain_name` is that of the name if empty.
  RunColumn& column(const std::string& name, ColumnRole role, const std::string& plain_name = "");

  /// Sets a cell of a row, adding the column. An empty text leaves the cell missing; a name or a
  /// text with control characters is ignored.
  void set(RunRow& row, const std::string& name, ColumnRole role, const std::string& text,
           const std::string& plain_name = "");

  /// The text of a cell; empty if it is missing.
  const std::string& cell(const RunRow& row, std::size_t column) const;

  /// Takes the column `theirs` for what a study calls `ours`. Throws StudyError if there is no such
  /// column, with the most similar one.
  void assign(const std::string& ours, const std::string& theirs);

  /// The column assigned to a name of the study, else the column of that name, else, in reported
  /// tables, the one whose plain name it is, or the last part of its plain name after a point;
  /// columns of that role come first. Empty if there is none. Throws StudyError if there are
  /// several.
  std::optional<std::size_t> find(const std::string& ours, ColumnRole role) const;

  /// Only columns that were assigned and, in tables that no tool reports, columns of that name.
  std::optional<std::size_t> find_exactly(const std::string& ours) const;

  /// Names and plain names of all columns, for suggestions.
  std::vector<std::string> names() const;

 private:
  std::optional<std::size_t> only_of(const std::string& ours, std::vector<std::size_t> found,
                                     ColumnRole role) const;

  std::unordered_map<std::string, std::size_t> index_;  ///< by name, of columns that were added
  std::map<std::string, std::size_t> assigned_;
};

/// The last part of a plain name: concurrency of phases.concurrency.
std::string last_part(const std::string& plain_name);

/// A CSV file as people write it: every row has as many cells as the header. Throws StudyError with
/// line and column.
RunTable read_csv_runs(const std::filesystem::path& file);

}  // namespace doetune::study
