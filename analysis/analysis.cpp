#include "analysis/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/best_run.h"
#include "analysis/blocks.h"
#include "analysis/failed_runs.h"
#include "analysis/fit_response.h"
#include "analysis/format.h"
#include "analysis/limit_confidence.h"
#include "analysis/study_tests.h"
#include "analysis/today.h"
#include "base/parallel.h"
#include "study/directory/journal.h"
#include "study/directory/original_file.h"
#include "study/directory/results.h"
#include "study/learnt_runs.h"
#include "surfaces/models/headroom.h"
#include "surfaces/models/limit_slack.h"
#include "surfaces/optimum/range_ends.h"

namespace doetune::analysis {
namespace {

using surfaces::Goal;
using surfaces::GoalType;

/// Limits of the search for surfaces that take microseconds per prediction.
constexpr std::size_t kMaxOfSlowSurfaces = 20'000, kMaxDrawnOfSlowSurfaces = 500;
constexpr int kDraws = 4000;  // of the optimum: accuracy of its percentiles about half a percent

/// The blocks of a study's own plan. Confirmation runs have later ones, which would take what they
/// tell of the mean for a difference of blocks; they are of the only block where the plan has one.
std::vector<int> blocks_of_plan(const std::vector<const study::PlannedRun*>& runs) {
  const bool in_blocks = std::any_of(runs.begin(), runs.end(), [](const study::PlannedRun* run) {
    return !run->validates() && run->block > 1;
  });
  std::vector<int> blocks;
  for (const study::PlannedRun* run : runs) blocks.push_back(in_blocks ? run->block : 1);
  return blocks;
}

/// The whole plots; a configuration that a block of confirmation runs repeats is one of its own.
std::vector<int> whole_plots_of(const std::vector<const study::PlannedRun*>& runs) {
  int last = 0;
  for (const study::PlannedRun* run : runs) last = std::max(last, run->whole_plot);
  std::map<std::pair<int, doe::PointType>, int> added;
  std::vector<int> plots;
  for (const study::PlannedRun* run : runs) {
    int plot = run->whole_plot;
    if (run->validates() && plot == 0) {
      plot = added.try_emplace({run->block, run->type}, last + 1 + static_cast<int>(added.size()))
                 .first->second;
    }
    if (plot == 0) return {};
    plots.push_back(plot);
  }
  return last == 0 ? std::vector<int>{} : plots;
}

/// The runs that were ended early while they measured a response.
void add_censored(const Analysis& analysis, const study::Response& response, ResponseRuns& runs) {
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  std::vector<Eigen::VectorXd> points;
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end()) continue;
    if (record->second.status != study::RunStatus::kEndedEarly) continue;
    const auto bound = record->second.bounds.find(response.name);
    if (bound == record->second.bounds.end()) continue;
    points.push_back(doe::coded_point(factors, run.settings));
    runs.censored.ranges.push_back({bound->second.low, bound->second.high});
    runs.censored_runs.push_back(run.run);
  }
  runs.censored.coded.resize(static_cast<Eigen::Index>(points.size()),
                             static_cast<Eigen::Index>(factors.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    runs.censored.coded.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
}

ResponseRuns runs_of(const Analysis& analysis, const study::Response& response,
                     bool with_confirmation) {
  const study::StudyDirectory& directory = *analysis.directory;
  const std::vector<doe::Factor>& factors = directory.study.factors;
  const auto k = static_cast<Eigen::Index>(factors.size());
  std::vector<const study::PlannedRun*> rows;
  std::vector<double> values;
  for (const study::PlannedRun& run : directory.plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end()) continue;
    if (study::tests_prediction(directory.plan, run) && !with_confirmation) continue;
    if (record->second.status != study::RunStatus::kCompleted) continue;
    const auto value = record->second.responses.find(response.name);
    if (value == record->second.responses.end()) continue;
    rows.push_back(&run);
    values.push_back(value->second);
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  Blocks blocks = blocks_of(response.fit.block, rows, analysis.records);
  if (response.fit.block == doe::BlockType::kPlan) blocks.numbers = blocks_of_plan(rows);
  ResponseRuns runs{{},   Eigen::MatrixXd(n, k),     Eigen::MatrixXd(n, k),
                    {},   std::move(blocks.numbers), {},
                    true, std::move(blocks.names)};
  runs.y = Eigen::Map<const Eigen::VectorXd>(values.data(), n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const study::PlannedRun& run = *rows[static_cast<std::size_t>(i)];
    runs.runs.push_back(run.run);
    runs.coded.row(i) = doe::coded_point(factors, run.settings).transpose();
    runs.settings.row(i) = Eigen::Map<const Eigen::RowVectorXd>(run.settings.data(), k);
    const auto& repeats = analysis.records.at(run.run).repeats;
    const auto own = repeats.find(response.name);
    runs.repeats.push_back(own == repeats.end() ? study::Repeats{} : own->second);
    // Imported runs have no start time, and their numbers are not a time order.
    runs.made_here = runs.made_here && !analysis.records.at(run.run).start.empty();
  }
  runs.whole_plots = whole_plots_of(rows);
  add_censored(analysis, response, runs);
  return runs;
}

/// Runs that completed, and whose values are of no use.
void warn_of_unusable(const std::map<int, study::RunRecord>& recorded, Analysis& analysis) {
  std::map<std::string, std::vector<int>> runs_of;  // by reason
  for (const auto& [run, record] : analysis.records) {
    if (record.status != recorded.at(run).status) runs_of[record.reason].push_back(run);
  }
  for (const auto& [reason, runs] : runs_of) {
    const bool is_one = runs.size() == 1;
    analysis.warnings.push_back(
        fmt::format("{} {} as failed: {}; with another transform in {} {} would count",
                    runs_text(runs), is_one ? "counts" : "count", reason,
                    (analysis.directory->path / "study.yaml").string(), is_one ? "it" : "they"));
  }
}

/// From the final record of each run. Of the confirmation runs, only those count that found a
/// configuration infeasible: it is not to be recommended again.
std::optional<surfaces::Feasibility> completion_model(
    const study::StudyDirectory& directory, const std::map<int, study::RunRecord>& records) {
  std::vector<Eigen::VectorXd> points;
  std::vector<bool> completed;
  std::vector<double> headroom;
  const std::set<int> infeasible = infeasible_runs(directory.plan, records);
  const std::map<std::string, double> capacities = directory.study.capacities();
  for (const study::PlannedRun& run : directory.plan.runs) {
    const auto record = records.find(run.run);
    if (record == records.end()) continue;
    const study::RunStatus status = record->second.status;
    const bool cannot_run = infeasible.contains(run.run);
    if (!study::is_decided(status) && !cannot_run) continue;
    if (study::tests_prediction(directory.plan, run) && status == study::RunStatus::kCompleted)
      continue;
    if (record->second.same_as) continue;  // not executed, so no further evidence
    points.push_back(doe::coded_point(directory.study.factors, run.settings));
    completed.push_back(!cannot_run);
    headroom.push_back(surfaces::headroom_of(record->second.responses, capacities)
                           .value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  const auto able = std::count(completed.begin(), completed.end(), true);
  const auto read = std::count_if(headroom.begin(), headroom.end(),
                                  [](double value) { return !std::isnan(value); });
  const bool all_able = able == static_cast<long>(completed.size());
  if (able == 0 || (all_able && read < surfaces::kMinReadings)) return std::nullopt;
  Eigen::MatrixXd coded(points.size(), directory.study.factors.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    coded.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
  surfaces::InfeasibleDirections infeasible_when;
  for (const doe::Factor& factor : directory.study.factors) {
    const auto known = directory.study.infeasible_when.find(factor.name);
    infeasible_when.push_back(known == directory.study.infeasible_when.end()
                                  ? std::nullopt
                                  : std::optional(known->second));
  }
  return surfaces::fit_feasibility(
      directory.study.factors, coded, completed, infeasible_when, 256,
      Eigen::Map<const Eigen::VectorXd>(headroom.data(), static_cast<long>(headroom.size())));
}

/// The lowest and highest measured value of a response; empty if no completed run has one.
std::optional<surfaces::Interval> measured_range(const Analysis& analysis,
                                                 const std::string& response) {
  std::optional<surfaces::Interval> range;
  for (const auto& [run, record] : analysis.records) {
    const auto value = record.responses.find(response);
    if (record.status != study::RunStatus::kCompleted || value == record.responses.end()) continue;
    if (!range) range = {value->second, value->second};
    range->low = std::min(range->low, value->second);
    range->high = std::max(range->high, value->second);
  }
  return range;
}

/// A capacity that completed runs exceed is none, or in another unit.
void check_capacities(Analysis& analysis) {
  for (const auto& [name, capacity] : analysis.directory->study.capacities()) {
    const auto range = measured_range(analysis, name);
    if (!range || range->high <= capacity) continue;
    analysis.warnings.push_back(
        fmt::format("{}: a completed run used {:.6g}, more than the capacity of {:.6g}; give the "
                    "capacity at which runs fail, in the unit of the response",
                    name, range->high, capacity));
  }
}

/// What the study asks for, or the highest probability of a completed run if that is less: there
/// are settings that reach it.
double min_feasibility_of(const Analysis& analysis) {
  double reached = 0;
  const study::Study& study = analysis.directory->study;
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end() || !study.region.allows(run.settings)) continue;
    if (record->second.status != study::RunStatus::kCompleted) continue;
    const Eigen::VectorXd coded = doe::coded_point(study.factors, run.settings);
    reached = std::max(reached, analysis.feasibility->probability(coded));
  }
  return std::min(study.feasibility, reached);
}

/// The goal of a response by the study or, instead, by the options; its weight is the study's.
std::optional<Goal> wanted_goal(const study::Response& response, const AnalysisOptions& options) {
  const auto given = options.goals.find(response.name);
  if (given == options.goals.end()) return stated_goal(response);
  Goal goal = given->second;
  goal.weight = response.weight;
  goal.importance = response.importance;
  goal.confidence = response.confidence;
  goal.of = response.of;
  return goal;
}

/// Without the categorical levels that no run has completed, of which a Gaussian process in place
/// of the study's model knows nothing.
doe::Region where_known(const Analysis& analysis, const doe::Region& region) {
  const std::string process = doe::word_of(doe::SurfaceType::kGaussianProcess);
  const bool any =
      std::any_of(analysis.responses.begin(), analysis.responses.end(), [&](const auto& response) {
        return response.fallback && response.fallback->model == process;
      });
  if (!any) return region;
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  std::vector<std::set<double>> completed(factors.size());
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end()) continue;
    if (record->second.status != study::RunStatus::kCompleted) continue;
    for (std::size_t f = 0; f < factors.size(); ++f) completed[f].insert(run.settings[f]);
  }
  const auto known = [&factors, completed](const std::vector<double>& natural) {
    for (std::size_t f = 0; f < factors.size(); ++f) {
      if (factors[f].is_categorical() && !completed[f].contains(natural[f])) return false;
    }
    return true;
  };
  return region.where(known, "a run has completed at every level");
}

surfaces::OptimumRequest request_of(const Analysis& analysis, const AnalysisOptions& options) {
  const study::Study& study = analysis.directory->study;
  surfaces::OptimumRequest request{
      study.factors, where_known(analysis, study.region), {}, options.hold};
  if (std::any_of(analysis.responses.begin(), analysis.responses.end(),
                  [](const ResponseAnalysis& response) { return response.other != nullptr; })) {
    request.max_enumerated = kMaxOfSlowSurfaces;
    request.max_drawn = kMaxDrawnOfSlowSurfaces;
  }
  const study::Plan& plan = analysis.directory->plan;
  for (const int run : infeasible_runs(plan, analysis.records)) {
    const auto& settings = plan.runs[static_cast<std::size_t>(run - 1)].settings;
    request.region = request.region.without(settings);
  }
  if (analysis.feasibility) {
    request.feasibility = [&feasibility = *analysis.feasibility](const Eigen::MatrixXd& coded) {
      return feasibility.probabilities(coded);
    };
    request.min_feasibility = analysis.min_feasibility;
    request.drawn_feasibility = [&feasibility =
                                     *analysis.feasibility](const Eigen::MatrixXd& coded) {
      return feasibility.drawn_probabilities(coded);
    };
  }
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) continue;
    std::optional<Goal> goal = wanted_goal(response.response, options);
    const auto* process = dynamic_cast<const surfaces::GaussianProcess*>(response.surface());
    if (goal && process != nullptr) goal->slack = surfaces::limit_slack(*goal, *process);
    request.responses.push_back({response.response.name, response.surface(), std::move(goal),
                                 response.posterior, response.runs_of_surface()});
  }
  return request;
}

bool has_goal(const surfaces::OptimumRequest& request) {
  return std::any_of(request.responses.begin(), request.responses.end(),
                     [](const auto& response) { return response.goal.has_value(); });
}

/// Why no optimum can be determined; empty if one can.
std::string missing_for_optimum(const Analysis& analysis, const surfaces::OptimumRequest& request,
                                const AnalysisOptions& options) {
  const auto infeasible = infeasible_runs(analysis.directory->plan, analysis.records).size();
  if (analysis.completed() == 0 && infeasible > 0) {
    return fmt::format(
        "all {} runs made so far were infeasible: no configuration is known to run; plan smaller "
        "ranges",
        infeasible);
  }
  for (const ResponseAnalysis& response : analysis.responses) {
    const bool wanted = response.response.goal || options.goals.count(response.response.name) > 0;
    if (wanted && response.surface() == nullptr) {
      return response.response.name + " has a goal but no surface: " + response.problem;
    }
  }
  return has_goal(request) ? "" : "no response has a goal";
}

bool varies(const surfaces::Interval& range) {
  constexpr double kRounding = 1e-9;  // rounding error of fits to constant values
  return range.high - range.low > kRounding * std::max(std::abs(range.low), std::abs(range.high));
}

/// Limits alone do not determine an optimum: all settings that meet them are equally good. Nor does
/// a ramp of a response that no factor affects.
bool has_uncertain_ramp(const surfaces::OptimumRequest& request, const surfaces::Optimum& optimum,
                        const std::vector<surfaces::Interval>& ranges) {
  for (std::size_t r = 0; r < request.responses.size(); ++r) {
    const std::optional<Goal>& goal = request.responses[r].goal;
    if (goal && !goal->is_limit() && varies(ranges[r]) &&
        optimum.best.predictions[r].confidence_interval) {
      return true;
    }
  }
  return false;
}

/// `wanted` asks for the confidences of the study, `request` for those that the search took.
OptimumDetails details_of(const surfaces::OptimumRequest& request,
                          const surfaces::OptimumRequest& wanted, const surfaces::Optimum& optimum,
                          const std::vector<surfaces::Interval>& ranges,
                          surfaces::LimitsAre limits) {
  OptimumDetails details;
  details.indifferent = true;
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (request.responses[r].goal && varies(ranges[r])) details.indifferent = false;
    details.predicted[request.responses[r].name] = ranges[r];
  }
  if (optimum.baseline) {
    details.gains =
        surfaces::gains_of_chosen(request, optimum.best.settings, optimum.baseline->settings);
  }
  for (const surfaces::Candidate& alternative : optimum.alternatives) {
    details.alternative_gains.push_back(
        surfaces::gains(request, alternative.settings, optimum.best.settings));
  }
  if (has_uncertain_ramp(request, optimum, ranges)) {
    details.uncertainty = surfaces::optimum_uncertainty(wanted, optimum, kDraws);
    details.equivalents = surfaces::equivalents(request, optimum.best);
    details.pareto = surfaces::pareto_front(request, limits);
  }
  details.robustness = surfaces::robustness(request, optimum.best.settings);
  if (!optimum.feasible) details.relaxations = surfaces::relaxations(request);
  return details;
}

/// Fills in the ends of the ramps and stores every goal as used.
void close_ramps(surfaces::OptimumRequest& request, const std::vector<surfaces::Interval>& ranges,
                 Analysis& analysis) {
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    if (!request.responses[r].goal) continue;
    request.responses[r].goal->close(ranges[r].low, ranges[r].high);
    analysis.goals[request.responses[r].name] = *request.responses[r].goal;
  }
}

/// Where no optimum can be predicted, the best measured run is the answer. Responses without a
/// surface get their goals, with ramps over the measured values.
void take_measured(Analysis& analysis, const AnalysisOptions& options) {
  std::map<std::string, Goal> goals = analysis.goals;
  for (const ResponseAnalysis& response : analysis.responses) {
    std::optional<Goal> goal = wanted_goal(response.response, options);
    if (!goal || goals.contains(response.response.name)) continue;
    const auto range = measured_range(analysis, response.response.name);
    if (!range) return;
    goal->close(range->low, range->high);
    goals[response.response.name] = *goal;
  }
  analysis.goals = std::move(goals);
  const std::optional<BestRun> best = best_measured_run(analysis);
  if (!best) return;
  analysis.measured = MeasuredAnswer{best->run, best->meets_limits, analysis.optimum_problem};
  analysis.optimum_problem.clear();
}

/// Imported runs may be outside.
bool is_in_ranges(const std::vector<doe::Factor>& factors, const std::vector<double>& settings) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].allows(settings[f])) return false;
  }
  return true;
}

/// After a search, the configurations that it ran, and that the request allows: where neighbours
/// are not alike, what a model expects of a configuration that nobody has run is too much. None in
/// designed experiments, and where factors are held: they were not run for that.
std::vector<std::vector<double>> settings_to_choose_from(const Analysis& analysis,
                                                         const surfaces::OptimumRequest& request) {
  std::vector<std::vector<double>> settings;
  const study::Plan& plan = analysis.directory->plan;
  if (!is_search(plan) || !request.hold.empty()) return settings;
  for (const study::PlannedRun& run : plan.runs) {
    const auto record = analysis.records.find(run.run);
    if (record == analysis.records.end() || study::tests_prediction(plan, run)) continue;
    if (record->second.status != study::RunStatus::kCompleted) continue;
    if (is_in_ranges(request.factors, run.settings) && request.region.allows(run.settings))
      settings.push_back(run.settings);
  }
  return settings;
}

/// Of all usable configurations where none that was run is predicted to meet the limits, and in
/// designed experiments. The request keeps the confidences that were asked for.
void choose(surfaces::OptimumRequest& request, Analysis& analysis) {
  surfaces::OptimumRequest among = request;
  among.only = settings_to_choose_from(analysis, request);
  if (!among.only.empty()) {
    analysis.optimum = find_confident_optimum(among);
    analysis.among_runs = analysis.optimum->feasible;
  }
  if (!analysis.among_runs) {
    analysis.optimum = find_confident_optimum(request);
    return;
  }
  among.only.clear();
  request = among;
}

/// Sets the goals even if there is no optimum because a response has no surface.
void seek_optimum(Analysis& analysis, const AnalysisOptions& options) {
  surfaces::OptimumRequest request = request_of(analysis, options);
  analysis.optimum_problem = missing_for_optimum(analysis, request, options);
  if (!has_goal(request)) return;
  try {
    const std::vector<surfaces::Interval> ranges = surfaces::predicted_ranges(request);
    close_ramps(request, ranges, analysis);
    if (!analysis.optimum_problem.empty()) return;
    const surfaces::OptimumRequest wanted = request;
    choose(request, analysis);
    analysis.optimum->at_bound = surfaces::improving_ends(request, *analysis.optimum);
    analysis.details = details_of(request, wanted, *analysis.optimum, ranges, options.limits);
    if (baseline_cannot_run(analysis)) analysis.details->gains.clear();
    if (analysis.details->indifferent) analysis.optimum->at_bound.clear();
  } catch (const std::invalid_argument& error) {
    if (analysis.optimum_problem.empty()) analysis.optimum_problem = error.what();
  }
}

/// What was recorded, without responses. With a transform that is given, none of the study's own
/// excludes a run.
Analysis records_of(const study::StudyDirectory& directory, const AnalysisOptions& options) {
  Analysis analysis;
  analysis.directory = &directory;
  const study::JournalContent journal = study::read_journal(directory);
  const auto recorded = study::final_records(journal.records);
  analysis.records = options.transform ? study::with_derived_responses(directory, recorded)
                                       : study::usable_records(directory, recorded);
  analysis.warnings = journal.warnings;
  warn_of_unusable(recorded, analysis);
  if (auto edited = study::edited_original(directory)) {
    analysis.warnings.push_back(std::move(*edited));
  }
  check_capacities(analysis);
  return analysis;
}

}  // namespace

std::optional<Goal> stated_goal(const study::Response& response) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!response.goal) return std::nullopt;
  return Goal{*response.goal,
              response.low.value_or(-kInfinity),
              response.high.value_or(kInfinity),
              response.target.value_or(0),
              response.weight,
              response.importance,
              1,
              response.confidence,
              response.of};
}

int Analysis::completed() const {
  return static_cast<int>(std::count_if(records.begin(), records.end(), [](const auto& entry) {
    return entry.second.status == study::RunStatus::kCompleted;
  }));
}

std::optional<surfaces::Feasibility> completion_model(const study::StudyDirectory& directory) {
  const auto records = study::final_records(study::read_journal(directory).records);
  return completion_model(directory, study::usable_records(directory, records));
}

Analysis read_runs(const study::StudyDirectory& directory) {
  Analysis analysis = records_of(directory, {});
  analysis.optimum_problem = "surfaces were not fitted";
  for (const study::Response& response : directory.study.responses) {
    analysis.responses.push_back({response, std::nullopt, analysis.optimum_problem});
  }
  take_measured(analysis, {});
  return analysis;
}

Analysis fit_runs(const study::StudyDirectory& directory, const AnalysisOptions& options) {
  Analysis analysis = records_of(directory, options);
  analysis.hold = options.hold;
  std::vector<ResponseRuns> runs(directory.study.responses.size());
  parallel_for(static_cast<int>(runs.size()), 0, [&](int r) {
    const auto response = static_cast<std::size_t>(r);
    runs[response] =
        runs_of(analysis, directory.study.responses[response], options.with_confirmation);
  });
  analysis.responses = fit_responses(directory.study, runs, options);
  correct_for_tests(analysis.responses);
  analysis.feasibility = completion_model(directory, analysis.records);
  if (analysis.feasibility) analysis.min_feasibility = min_feasibility_of(analysis);
  if (const auto infeasible = infeasible_runs(directory.plan, analysis.records).size();
      analysis.completed() == 0 && infeasible > 0) {
    for (ResponseAnalysis& response : analysis.responses) {
      response.problem =
          fmt::format("all {} runs made so far were infeasible: plan smaller ranges", infeasible);
    }
  }
  return analysis;
}

Analysis analyse(const study::StudyDirectory& directory, const AnalysisOptions& options) {
  Analysis analysis = fit_runs(directory, options);
  seek_optimum(analysis, options);
  if (!analysis.optimum) take_measured(analysis, options);
  return analysis;
}

}  // namespace doetune::analysis
