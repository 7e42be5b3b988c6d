// The plan: all runs in run order (the run sheet), and how the design was generated.
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
  int run = 0;             ///< position in the run order, from 1
  int standard_order = 0;  ///< position in the standard order of the design, from 1
  doe::PointType type = doe::PointType::kFactorial;
  int block = 1;
  int replicate = 1;
  std::vector<double> settings;  ///< one per factor, natural units
  int whole_plot = 0;            ///< from 1: runs with the same hard-to-change settings; 0: none

  /// Whether the run tests a prediction (confirmation, baseline); such runs are not used in fits.
  bool validates() const;
};

struct Plan {
  std::vector<PlannedRun> runs;
  doe::Evaluation evaluation;
  std::vector<std::string> notes;  ///< remarks of the design generator
  std::optional<doe::SearchReport> search;

  /// Whether any run is in a whole plot; the run sheet then has a column for them.
  bool has_whole_plots() const;

  /// n x k coded points of the runs used in fits, in run order.
  Eigen::MatrixXd coded(const std::vector<doe::Factor>& factors) const;
};

/// Generates the study's design and randomizes the run order (type `table`: keeps the given order).
/// Throws StudyError for a design that cannot be generated or does not support the model.
Plan make_plan(const Study& study);

struct TableRow;

/// Adds a run at the end; its replicate counts the runs of the plan with the same settings. In a
/// plan with whole plots it is one of its own.
void append_run(Plan& plan, doe::PointType type, std::vector<double> settings, int block = 1);

/// The plan whose runs are these rows, in their order; they need not determine the model. `study`
/// has design type `table`.
Plan plan_of_rows(const Study& study, const std::vector<TableRow>& rows);

/// The run sheet as CSV: run,standard_order,point_type,block,replicate,<factors...>; if there are
/// whole plots, with whole_plot before the factors.
std::string plan_csv(const Study& study, const Plan& plan);

/// The names of the sheet's columns, and the cells of one run.
std::vector<std::string> plan_header(const Study& study, bool whole_plots);
std::vector<std::string> plan_cells(const Study& study, const PlannedRun& run, bool whole_plots);

/// The settings of a run as written in the sheet, by factor.
std::map<std::string, std::string> settings_texts(const Study& study, const PlannedRun& run);

/// Parses the output of plan_csv; the runs are numbered from 1. Throws StudyError with line and
/// column name.
std::vector<PlannedRun> read_plan_csv(const Study& study, const std::string& csv,
                                      const std::filesystem::path& file);

}  // namespace doetune::study
