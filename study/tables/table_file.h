// Reads a CSV table of settings and responses measured elsewhere.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/run_record.h"
#include "study/study.h"
#include "study/tables/run_table.h"

namespace doetune::study {

struct TableRow {
  int line = 0;                              ///< line of the file, from 1; 0: it has none
  std::string place;                         ///< "file:line", or the file
  std::vector<double> settings;              ///< one per factor, natural units
  int block = 1;                             ///< from the column `block`
  RunStatus status = RunStatus::kCompleted;  ///< from the column `status`
  int whole_plot = 0;                        ///< from the column `whole_plot`; 0: none
  std::optional<doe::PointType> validates;   ///< from the column `point_type`: confirmation or
                                             ///< baseline; empty for any other text
  std::map<std::string, double> responses;   ///< the values that are present
  std::string reason;                        ///< why it did not complete, if a tool reports it
  std::map<std::string, Repeats> repeats;    ///< of responses that a tool measured repeatedly
  bool was_made = true;  ///< false if the row has no response and its status, in a table with that
                         ///< column, is empty
};

/// Whether the runs of a table are planned or have been made, possibly outside the present ranges.
enum class RowsAre { kPlanned, kMeasured };

struct TableRows {
  std::vector<TableRow> rows;
  std::vector<std::string> warnings;  ///< what was left out of a reported table, and why
};

/// Reads the columns of the study's factors and of the named responses and, if present, whole_plot,
/// block, point_type and status (such as infeasible). Blocks and whole plots that have names are
/// numbered in order of appearance. Other columns are ignored; an empty response is missing. Throws
/// StudyError naming line and column for a missing column (suggesting the most similar one), a
/// setting that its factor does not have (measured rows: but may be outside the range of a numeric
/// factor), and an invalid number.
std::vector<TableRow> read_table(const Study& study, const std::filesystem::path& file,
                                 const std::vector<std::string>& responses,
                                 RowsAre rows = RowsAre::kPlanned);

/// The same, of measured runs. Of a table that a tool reports, a row with a setting that its factor
/// does not have, or a response that is no number, is left out with a warning; a response that is
/// not finite is missing; a run without any response has failed. A warning names parameters that
/// are no factors and in which runs with equal settings differ. Throws StudyError if no row is
/// left.
TableRows read_measured_runs(const Study& study, const RunTable& table,
                             const std::vector<std::string>& responses);

}  // namespace doetune::study
