// A CSV table of settings and responses made elsewhere.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/run_record.h"
#include "study/study.h"

namespace doetune::study {

struct TableRow {
  int line = 0;                              ///< of the file, from 1
  std::vector<double> settings;              ///< one a factor, natural units
  int block = 1;                             ///< of a column block
  RunStatus status = RunStatus::kCompleted;  ///< of a column status
  int whole_plot = 0;                        ///< of a column whole_plot; 0: none
  std::map<std::string, double> responses;   ///< those of `responses` with a value
  bool was_made =
      true;  ///< false: neither a status, in a table that has the column, nor a response
};

/// Reads the columns of the study's factors, of the named responses and, where it is there,
/// whole_plot, block or status (such as infeasible); other columns are ignored, an empty response
/// is missing. Throws StudyError naming line and column: a missing column (with the nearest there
/// is), a setting outside its factor's range, a value that is no number.
std::vector<TableRow> read_table(const Study& study, const std::filesystem::path& file,
                                 const std::vector<std::string>& responses);

}  // namespace doetune::study
