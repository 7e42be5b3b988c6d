#include "tuning/study_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/failed_runs.h"
#include "analysis/reference_point.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"
#include "study/directory/results.h"
#include "study/directory/tell.h"
#include "study/error.h"
#include "study/file/yaml.h"
#include "study/tables/table_file.h"
#include "tuning/start.h"

namespace doetune::tuning {
namespace {

/// A power that is to be estimated is not: the logarithm stands for it.
surfaces::Transform transform_of(const study::Response& response) {
  if (response.transform == doe::TransformType::kPower) return surfaces::Transform::kLog;
  return {response.transform, 1};
}

/// The start is what others are compared with, and a confirmation needs all of its runs.
bool may_end_early(const study::Study& study, const study::PlannedRun& run) {
  return study.run.end_early && run.type == doe::PointType::kProposed;
}

/// Of a usable record; empty for a run that says nothing: one that failed, or was not executed.
std::optional<Observation> observation_of(const study::StudyDirectory& directory,
                                          const study::RunRecord& record) {
  const study::PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(record.run - 1)];
  Observation observation{planned.settings, true, {}};
  switch (record.status) {
    case study::RunStatus::kInfeasible:
      observation.completed = false;
      return record.same_as ? std::nullopt : std::optional(observation);
    case study::RunStatus::kCompleted:
      observation.values = record.responses;
      observation.seconds = record.duration_s;
      return observation;
    case study::RunStatus::kEndedEarly:
      for (const auto& [name, range] : record.bounds) {
        observation.bounds[name] = {range.low, range.high};
      }
      return observation.ended_early() ? std::optional(observation) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The responses with a formula.
void add_derived(const study::Study& study, const study::PlannedRun& run,
                 study::ProgressPoint& point) {
  const bool any = std::any_of(study.responses.begin(), study.responses.end(),
                               [](const auto& response) { return !response.formula.empty(); });
  if (!any) return;
  study::RunRecord record;
  record.responses = std::move(point.responses);
  study::add_derived_responses(study, run, record);
  point.responses = std::move(record.responses);
}

bool uses_servers(const study::Study& study) { return !study.run.server.set_up.empty(); }

/// Whether a record is an observation of whether its settings can run. Of the others the settings
/// are not proposed again.
bool says_whether_it_runs(const study::RunRecord& record) {
  return record.status == study::RunStatus::kCompleted ||
         (record.status == study::RunStatus::kInfeasible && !record.same_as);
}

/// The region without the settings of a whole plot, whose server cannot run.
doe::Region without_plot(const Problem& problem, const Settings& plot) {
  const auto is_other = [problem, plot](const Settings& settings) {
    return !same_whole_plot(problem, settings, plot);
  };
  return problem.region.where(is_other, "a server that can run");
}

/// What other hard-to-change settings cost, in units of a mean run.
double change_cost(const study::Study& study,
                   const std::map<int, study::RunRecord>& final_records) {
  double seconds = 0, set_up = 0;
  int runs = 0, plots = 0;
  for (const auto& [run, record] : final_records) {
    if (record.status == study::RunStatus::kCompleted) {
      seconds += record.duration_s;
      ++runs;
    }
    if (record.set_up_s) {
      set_up += *record.set_up_s;
      ++plots;
    }
  }
  const doe::DesignOptions& design = study.design.options;
  double change = kChange;
  if (plots > 0 && seconds > 0) {
    change = set_up / plots / (seconds / runs);
  } else if (design.change_cost_s && design.run_cost_s.value_or(0) > 0) {
    change = *design.change_cost_s / *design.run_cost_s;
  }
  return std::min(change, kMaxChange);
}

/// start(), its errors with a place in the study's file.
std::vector<Settings> start_of(const study::Study& study, const Problem& problem, int budget) {
  try {
    const int runs = start_size(problem, budget);
    std::vector<Settings> settings = start(problem, runs);
    const std::set<Settings> different(settings.begin(), settings.end());
    if (runs > 1 && different.size() == 1) {
      throw doe::DesignError(
          fmt::format("there is one configuration only, {}: nothing to search",
                      analysis::settings_text(problem.factors, settings.front())));
    }
    return settings;
  } catch (const doe::DesignError& error) {
    std::string place = "factors";
    for (const char* key : {"forbidden", "constraints"}) {
      if (study.locations.contains(key)) place = key;
    }
    throw study::StudyError(fmt::format("{}: {}", study.location(place), error.what()));
  }
}

}  // namespace

Problem problem_of(const study::Study& study) {
  Problem problem;
  problem.factors = study.factors;
  problem.region = study.region;
  problem.capacities = study.capacities();
  problem.feasibility = study.feasibility;
  problem.seed = study.seed;
  for (const doe::Factor& factor : study.factors) {
    const auto known = study.infeasible_when.find(factor.name);
    problem.infeasible_when.push_back(
        known == study.infeasible_when.end() ? std::nullopt : std::optional(known->second));
  }
  for (const study::Response& response : study.responses) {
    if (const auto goal = analysis::stated_goal(response)) {
      problem.objectives.push_back({response.name, *goal, transform_of(response)});
    }
  }
  const bool any =
      std::any_of(problem.objectives.begin(), problem.objectives.end(),
                  [](const Objective& objective) { return !objective.goal.is_limit(); });
  if (!any) {
    throw study::StudyError(
        study.location("responses") +
        ": a search needs a response with the goal maximize, minimize or target");
  }
  return problem;
}

std::vector<Observation> observations_of(const study::StudyDirectory& directory,
                                         const std::map<int, study::RunRecord>& final_records) {
  const auto records = study::usable_records(directory, final_records);
  const std::set<int> failures = analysis::failures_that_count(directory.plan, records);
  std::vector<Observation> observations;
  for (const auto& [run, record] : records) {
    if (failures.contains(run)) {
      const auto& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
      observations.push_back({planned.settings, false, {}});
    } else if (auto observation = observation_of(directory, record)) {
      observations.push_back(*std::move(observation));
    }
  }
  return observations;
}

AssessRun assess_of(const study::StudyDirectory& directory,
                    const std::map<int, study::RunRecord>& final_records) {
  const study::Study& study = directory.study;
  if (!study.run.end_early) return {};
  std::vector<Observation> so_far;
  std::vector<Progress> progress;
  for (const auto& [run, record] : study::usable_records(directory, final_records)) {
    auto observation = observation_of(directory, record);
    if (!observation) continue;
    so_far.push_back(*std::move(observation));
    progress.emplace_back();
    if (record.status != study::RunStatus::kCompleted) continue;
    progress.back() = study::read_progress(directory.attempt(run, record.attempt));
    for (study::ProgressPoint& point : progress.back()) {
      add_derived(study, directory.plan.runs[static_cast<std::size_t>(run - 1)], point);
    }
  }
  return [&study, ending = EarlyEnding(problem_of(study), so_far, progress, *study.run.end_early)](
             const study::PlannedRun& run,
             const study::ProgressPoint& latest) -> std::optional<study::EarlyEnd> {
    if (!may_end_early(study, run)) return std::nullopt;
    study::ProgressPoint with_derived = latest;
    add_derived(study, run, with_derived);
    const auto verdict = ending.assess(run.settings, with_derived);
    if (!verdict) return std::nullopt;
    study::EarlyEnd end{
        latest.responses, {}, fmt::format("at step {:g}, {}", latest.step, verdict->reason)};
    for (const auto& [name, range] : verdict->bounds) end.bounds[name] = {range.low, range.high};
    return end;
  };
}

std::optional<ToldEnd> tell_progress(const study::StudyDirectory& directory, int run,
                                     const study::ProgressPoint& latest) {
  if (auto ended = study::tell_step(directory, run, latest)) return ToldEnd{*ended, false};
  const study::PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
  if (!may_end_early(directory.study, planned)) return std::nullopt;
  const auto records = study::final_records(study::read_journal(directory).records);
  auto end = assess_of(directory, records)(planned, latest);
  if (!end) return std::nullopt;
  study::when_free([&] {  // again without the step, which is kept
    return study::tell_run(
        study::open_directory(directory.path),
        {run, study::RunStatus::kEndedEarly, end->reason, end->responses, end->bounds});
  });
  return ToldEnd{*std::move(end), true};
}

Problem open_problem(const study::StudyDirectory& directory,
                     const std::map<int, study::RunRecord>& final_records) {
  Problem problem = problem_of(directory.study);
  const auto records = study::usable_records(directory, final_records);
  const std::set<int> cannot_run = analysis::infeasible_runs(directory.plan, records);
  for (const auto& [run, record] : records) {
    const auto& settings = directory.plan.runs[static_cast<std::size_t>(run - 1)].settings;
    if (record.in_set_up && cannot_run.contains(run) && has_whole_plots(problem)) {
      problem.region = without_plot(problem, settings);
    } else if (!says_whether_it_runs(record)) {
      problem.region = problem.region.without(settings);
    }
  }
  for (const auto& [run, record] : final_records) {
    problem.tried.push_back(directory.plan.runs[static_cast<std::size_t>(run - 1)].settings);
  }
  if (!has_whole_plots(problem)) return problem;
  problem.cost.change = change_cost(directory.study, final_records);
  const auto& runs = directory.plan.runs;
  if (!uses_servers(directory.study) && !runs.empty()) {
    problem.cost.in_place = runs.back().settings;
  }
  return problem;
}

std::function<double(const Settings&)> gpus_of(const study::Study& study) {
  const study::Count& count = study.run.gpus_per_run;
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    if (study.factors[f].name != count.factor) continue;
    return [f](const Settings& settings) { return settings[f]; };
  }
  return [number = count.fixed](const Settings&) { return static_cast<double>(number); };
}

study::Study search_study(const study::Study& study, int budget) {
  std::string text = study.text;
  if (!study.locations.contains("design")) {
    const int runs = start_size(problem_of(study), budget);
    study::add_key(text, "design", fmt::format("{{type: space-filling, runs: {}}}", runs),
                   "the start of the search");
  }
  if (!study.locations.contains("fit")) {
    study::add_key(text, "fit", "{surface: gaussian-process}", "the surrogate model of the search");
  }
  return study::parse_study(text, study.file);
}

void check_budget(const study::Study& study, std::size_t design_runs, int budget) {
  if (design_runs <= static_cast<std::size_t>(budget)) return;
  throw study::StudyError(
      fmt::format("{}: the study's design has {} runs; expected at most the budget, {}",
                  study.location("design"), design_runs, budget));
}

study::Plan first_plan(const study::Study& study, int budget) {
  const Problem problem = problem_of(study);
  if (study.locations.contains("design")) {
    study::Plan plan = study::make_plan(study);
    check_budget(study, plan.runs.size(), budget);
    return plan;
  }
  std::vector<study::TableRow> rows;
  for (const Settings& settings : start_of(study, problem, budget)) {
    rows.emplace_back();
    rows.back().settings = settings;
    if (!has_whole_plots(problem)) continue;
    const bool same =
        rows.size() > 1 && same_whole_plot(problem, settings, rows[rows.size() - 2].settings);
    const int before = rows.size() > 1 ? rows[rows.size() - 2].whole_plot : 0;
    rows.back().whole_plot = same ? before : before + 1;
  }
  study::Study as_table = study;
  as_table.design = {"table", {}, {}};
  study::Plan plan = study::plan_of_rows(as_table, rows);
  for (study::PlannedRun& run : plan.runs) run.type = doe::PointType::kSpaceFilling;
  return plan;
}

study::Plan with_proposals(const study::Study& study, study::Plan plan,
                           const std::vector<Proposal>& proposals) {
  const Problem problem = problem_of(study);
  const std::size_t before = plan.runs.size();
  for (const Proposal& proposal : proposals) {
    const bool first = plan.runs.size() == before;
    const bool goes_on =
        !first || (before > 0 && !uses_servers(study) && !plan.runs.back().validates());
    const int plot = goes_on ? plan.runs.back().whole_plot : 0;
    const bool same =
        plot > 0 && same_whole_plot(problem, proposal.settings, plan.runs.back().settings);
    study::append_run(plan, doe::PointType::kProposed, proposal.settings);
    if (same) plan.runs.back().whole_plot = plot;
  }
  return plan;
}

}  // namespace doetune::tuning
