// The run sheet: every planned run, in run order, and how it was made.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doe/design.h"
#include "doe/evaluation.h"
#include "study/study.h"

namespace doetune::study {

struct PlannedRun {
  int run = 0;             ///< place in the run order, from 1
  int standard_order = 0;  ///< place in the design's standard order, from 1
  doe::PointType type = doe::PointType::kFactorial;
  int block = 1;
  int replicate = 1;
  std::vector<double> settings;  ///< one a factor, natural units
  int whole_plot = 0;            ///< from 1: runs with the same hard-to-change settings; 0: none

  /// Made to judge a prediction (confirmation, baseline), so that no surface is fitted to it.
  bool validates() const;
};

struct Plan {
  std::vector<PlannedRun> runs;
  doe::Evaluation evaluation;
  std::vector<std::string> notes;  ///< what the design's builder had to say
  std::optional<doe::SearchReport> search;

  /// Whether any run is in a whole plot; the run sheet has a column for them then.
  bool has_whole_plots() const;

  /// n x k coded points of the runs that surfaces are fitted to, in run order.
  Eigen::MatrixXd coded(const std::vector<doe::Factor>& factors) const;
};

/// Builds the study's design and puts it in random run order (type `table`: in the order given).
/// Throws StudyError for a design that cannot be made or does not support the model.
Plan make_plan(const Study& study);

/// The run sheet as CSV: run,standard_order,point_type,block,replicate,<factors...>; with whole
/// plots, whole_plot before the factors.
std::string plan_csv(const Study& study, const Plan& plan);

/// The names of the sheet's columns, and the cells of one run.
std::vector<std::string> plan_header(const Study& study, bool whole_plots);
std::vector<std::string> plan_cells(const Study& study, const PlannedRun& run, bool whole_plots);

/// The settings of a run as the sheet has them, by factor.
std::map<std::string, std::string> settings_texts(const Study& study, const PlannedRun& run);

/// Reads plan_csv's text back; the runs are numbered from 1. Throws StudyError with line and column
/// name.
std::vector<PlannedRun> read_plan_csv(const Study& study, const std::string& csv,
                                      const std::filesystem::path& file);

}  // namespace doetune::study
