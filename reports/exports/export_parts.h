// Parts common to the export scripts of all languages.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::reports {

/// A column of the measured runs. Cells are literals; an empty cell is missing.
struct ExportColumn {
  std::string name;  ///< a factor, a response, or one of the names below; unique
  std::vector<std::string> cells;
};

/// "run"; "whole_plot" if there are any; the factors in natural units; the responses, each followed
/// by its blocks and weights if its fit has them.
std::vector<ExportColumn> export_columns(const analysis::Analysis& analysis);

std::string block_column(const std::string& response);   ///< "block.throughput"
std::string weight_column(const std::string& response);  ///< "weight.throughput"

/// The levels of the block column in the order of sum contrasts: the last one, coded -1, is the
/// first block. Empty if all runs of the fit are in one block.
std::vector<std::string> block_levels(const analysis::ResponseAnalysis& response);

bool has_whole_plots(const analysis::ResponseAnalysis& response);
bool is_robust(const analysis::ResponseAnalysis& response);

/// What is fitted, and which parts of doetune's fit the script cannot reproduce, as sentences for a
/// comment.
std::vector<std::string> export_notes(const analysis::ResponseAnalysis& response);

}  // namespace doetune::reports
