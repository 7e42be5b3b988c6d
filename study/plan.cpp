#include "study/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

#include "study/error.h"
#include "study/files.h"
#include "study/tables/csv.h"
#include "study/tables/table_file.h"

namespace doetune::study {
namespace {

constexpr std::array kPlanColumns{"run", "standard_order", "point_type", "block", "replicate"};

doe::DesignRequest request_without_table(const Study& study) {
  doe::DesignRequest request;
  request.factors = study.factors;
  request.region = study.region;
  request.model = study.model;
  request.options = study.design.options;
  request.seed = study.seed;
  return request;
}

void add_row(const TableRow& row, doe::DesignRequest& request) {
  request.table.push_back(row.settings);
  request.table_whole_plots.push_back(row.whole_plot);
}

doe::DesignRequest request_of(const Study& study) {
  doe::DesignRequest request = request_without_table(study);
  if (!study.design.table.empty()) {
    if (!std::filesystem::exists(study.design.table)) {
      throw StudyError(fmt::format("{}: design.file: there is no file '{}'{}",
                                   study.location("design.file"), study.design.table.string(),
                                   did_you_mean_entry(study.design.table, Entry::kFile)));
    }
    for (const TableRow& row : read_table(study, study.design.table, {})) {
      if (const auto reason = study.region.excluded_by(row.settings)) {
        throw StudyError(fmt::format("{}:{}: the study file does not allow this run ({})",
                                     study.design.table.string(), row.line, *reason));
      }
      add_row(row, request);
    }
  }
  return request;
}

/// The position in the study file to report for an impossible design.
std::string position_of_design(const Study& study) {
  for (const char* key : {"design", "constraints", "forbidden", "model"}) {
    if (study.locations.contains(key)) return study.location(key);
  }
  return study.location("factors");
}

/// "a*b, a*c and 4 more are": limits the number of terms in a message.
std::string aliased_terms(const std::vector<std::string>& aliases) {
  constexpr std::size_t kMaxNamed = 8;
  const std::size_t named = std::min(aliases.size(), kMaxNamed);
  const std::string names =
      fmt::format("{}", fmt::join(aliases.begin(), aliases.begin() + named, ", "));
  const std::size_t more = aliases.size() - named;
  return fmt::format("{}{} {}", names, more > 0 ? fmt::format(" and {} more", more) : "",
                     aliases.size() == 1 ? "is" : "are");
}

/// Rejects a design with too few runs for the model, unless the design type or the caller intends
/// it.
void check_singular(const Study& study, bool any_runs, Plan& plan) {
  const doe::Evaluation& evaluation = plan.evaluation;
  const bool meant = any_runs || !doe::find_design_type(study.design.type).needs_model ||
                     !study.design.options.possible.empty();
  if (meant) {
    plan.notes.push_back(fmt::format("{} runs do not determine the {} coefficients of the model",
                                     evaluation.runs, evaluation.terms));
    return;
  }
  const std::string what = fmt::format(
      "{} not determine the model ({} terms): {} aliased with other terms; choose a smaller model "
      "or more runs",
      evaluation.runs == 1 ? "1 run does" : fmt::format("{} runs do", evaluation.runs),
      evaluation.terms, aliased_terms(evaluation.aliases));
  if (!study.design.table.empty()) {
    throw StudyError(fmt::format("{}: its {}", study.design.table.string(), what));
  }
  throw StudyError(
      fmt::format("{}: design {}: {}", position_of_design(study), study.design.type, what));
}

int whole_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(fmt::format("expected an integer, found '{}'", text));
  }
  return value;
}

PlannedRun planned_run_of(const Study& study, const std::vector<std::string>& cells) {
  const std::size_t first_factor = cells.size() - study.factors.size();
  PlannedRun run;
  run.run = whole_number(cells[0]);
  run.standard_order = whole_number(cells[1]);
  run.type = doe::point_type_from_name(cells[2]);
  run.block = whole_number(cells[3]);
  run.replicate = whole_number(cells[4]);
  if (first_factor > kPlanColumns.size() && !cells[kPlanColumns.size()].empty()) {
    run.whole_plot = whole_number(cells[kPlanColumns.size()]);
  }
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    const std::string& text = cells[first_factor + f];
    const auto setting = study.factors[f].parse(text);
    if (!setting) {
      throw std::invalid_argument(setting_error(study.factors[f], text));
    }
    run.settings.push_back(*setting);
  }
  return run;
}

doe::Design built_design(const Study& study, const doe::DesignRequest& request) {
  try {
    return doe::build_design(study.design.type, request);
  } catch (const doe::DesignError& error) {
    throw StudyError(fmt::format("{}: design: {}", position_of_design(study), error.what()));
  }
}

/// The plan of a design, without its evaluation.
Plan plan_of(const Study& study, const doe::DesignRequest& request, const doe::Design& design) {
  Plan plan;
  plan.notes = design.notes;
  plan.search = design.search;
  std::vector<int> order(design.points.size());
  std::iota(order.begin(), order.end(), 0);
  if (study.design.type != "table") order = doe::random_run_order(design, study.seed);
  for (const int i : order) {
    const doe::DesignPoint& point = design.points[i];
    // Converting to coded units and back may change the last digit of a given number.
    const std::vector<double> settings =
        request.table.empty() ? doe::natural_settings(study.factors, point.coded)
                              : request.table[static_cast<std::size_t>(i) % request.table.size()];
    plan.runs.push_back({static_cast<int>(plan.runs.size()) + 1, i + 1, point.type, point.block,
                         point.replicate, settings, point.whole_plot});
  }
  return plan;
}

/// `any_runs`: they need not determine the model.
void evaluate(const Study& study, const Eigen::MatrixXd& coded, bool any_runs, Plan& plan) {
  plan.evaluation = doe::evaluate(study.model, coded);
  if (!plan.evaluation.d_efficiency) check_singular(study, any_runs, plan);
}

}  // namespace

bool PlannedRun::validates() const {
  return type == doe::PointType::kConfirmation || type == doe::PointType::kBaseline;
}

void append_run(Plan& plan, doe::PointType type, std::vector<double> settings, int block) {
  PlannedRun run;
  run.run = run.standard_order = static_cast<int>(plan.runs.size()) + 1;
  run.type = type;
  run.block = block;
  for (const PlannedRun& before : plan.runs) {
    run.replicate += before.settings == settings;
    if (before.whole_plot > 0) run.whole_plot = std::max(run.whole_plot, before.whole_plot + 1);
  }
  run.settings = std::move(settings);
  plan.runs.push_back(std::move(run));
}

bool Plan::has_whole_plots() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const PlannedRun& run) { return run.whole_plot > 0; });
}

Eigen::MatrixXd Plan::coded(const std::vector<doe::Factor>& factors) const {
  Eigen::MatrixXd x(runs.size(), factors.size());
  Eigen::Index rows = 0;
  for (const PlannedRun& run : runs) {
    if (!run.validates()) x.row(rows++) = doe::coded_point(factors, run.settings).transpose();
  }
  return x.topRows(rows);
}

Plan make_plan(const Study& study) {
  const doe::DesignRequest request = request_of(study);
  const doe::Design design = built_design(study, request);
  Plan plan = plan_of(study, request, design);
  if (!study.design.next_better.empty()) {
    plan.notes.push_back(
        fmt::format("the study names no design, so {} is proposed; the next better one: {}",
                    study.design.type, study.design.next_better));
  }
  evaluate(study, design.coded(), false, plan);
  return plan;
}

Plan plan_of_rows(const Study& study, const std::vector<TableRow>& rows) {
  doe::DesignRequest request = request_without_table(study);
  for (const TableRow& row : rows) add_row(row, request);
  Plan plan = plan_of(study, request, built_design(study, request));
  for (PlannedRun& run : plan.runs) {
    const TableRow& row = rows[static_cast<std::size_t>(run.run - 1)];
    run.block = row.block;
    run.type = row.validates.value_or(run.type);
  }
  // What was measured has an answer, if a smaller one.
  evaluate(study, plan.coded(study.factors), true, plan);
  return plan;
}

std::string plan_csv(const Study& study, const Plan& plan) {
  const bool whole_plots = plan.has_whole_plots();
  std::string csv = csv_row(plan_header(study, whole_plots));
  for (const PlannedRun& run : plan.runs) {
    csv += csv_row(plan_cells(study, run, whole_plots));
  }
  return csv;
}

std::vector<std::string> plan_header(const Study& study, bool whole_plots) {
  std::vector<std::string> cells(kPlanColumns.begin(), kPlanColumns.end());
  if (whole_plots) cells.emplace_back("whole_plot");
  for (const doe::Factor& factor : study.factors) cells.push_back(factor.name);
  return cells;
}

std::vector<std::string> plan_cells(const Study& study, const PlannedRun& run, bool whole_plots) {
  std::vector<std::string> cells{std::to_string(run.run), std::to_string(run.standard_order),
                                 std::string(doe::point_type_name(run.type)),
                                 std::to_string(run.block), std::to_string(run.replicate)};
  if (whole_plots) cells.push_back(run.whole_plot > 0 ? std::to_string(run.whole_plot) : "");
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    cells.push_back(study.factors[f].format(run.settings[f]));
  }
  return cells;
}

std::map<std::string, std::string> settings_texts(const Study& study, const PlannedRun& run) {
  std::map<std::string, std::string> texts;
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    texts[study.factors[f].name] = study.factors[f].format(run.settings[f]);
  }
  return texts;
}

std::vector<PlannedRun> read_plan_csv(const Study& study, const std::string& csv,
                                      const std::filesystem::path& file) {
  const auto fail = [&](int line, const std::string& message) {
    throw StudyError(fmt::format("{}:{}: {}", file.string(), line, message));
  };
  std::vector<CsvRow> rows;
  try {
    rows = parse_csv_table(csv);
  } catch (const CsvError& error) {
    fail(error.line, error.what());
  }
  const std::vector<std::string> header = plan_header(study, false);
  if (rows.front().cells != header && rows.front().cells != plan_header(study, true)) {
    fail(rows.front().line, fmt::format("expected the columns {}", fmt::join(header, ",")));
  }
  std::vector<PlannedRun> runs;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    try {
      runs.push_back(planned_run_of(study, rows[i].cells));
      if (runs.back().run != static_cast<int>(i)) {
        fail(rows[i].line, fmt::format("expected run {}, found {}", i, runs.back().run));
      }
    } catch (const std::invalid_argument& error) {
      fail(rows[i].line, error.what());
    }
  }
  return runs;
}

}  // namespace doetune::study
