// What scripts that fit a study again are made of, whatever their language.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::reports {

/// A column of the runs that were measured. Cells are literals; an empty one is missing.
struct ExportColumn {
  std::string name;  ///< a factor, a response, or one of the names below; no two are alike
  std::vector<std::string> cells;
};

/// "run"; "whole_plot" where there are any; the factors, natural units; the responses; and beside a
/// response whose fit has them, its blocks and its weights.
std::vector<ExportColumn> export_columns(const analysis::Analysis& analysis);

std::string block_column(const std::string& response);   ///< "block.throughput"
std::string weight_column(const std::string& response);  ///< "weight.throughput"

/// The levels of the block column as contrasts take them: the last one, which is -1, is the first
/// block. Empty where all runs of the fit are of one block.
std::vector<std::string> block_levels(const analysis::ResponseAnalysis& response);

bool has_whole_plots(const analysis::ResponseAnalysis& response);
bool is_robust(const analysis::ResponseAnalysis& response);

/// What is fitted, and what of doetune's fit the script cannot do: sentences for a comment.
std::vector<std::string> export_notes(const analysis::ResponseAnalysis& response);

}  // namespace doetune::reports
