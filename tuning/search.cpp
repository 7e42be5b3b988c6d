#include "tuning/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "analysis/confirmation.h"
#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "study/confirmation_runs.h"
#include "study/directory/journal.h"
#include "study/directory/original_file.h"
#include "study/directory/patience.h"
#include "study/directory/results.h"
#include "study/files.h"
#include "tuning/start.h"
#include "tuning/study_search.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

using Validation = analysis::Confirmation::Validation;

/// Proposals in a row with a small expected gain. One run gains little where several would gain
/// more, and a model of few runs may be wrong: bench/tuning/stopping.py.
constexpr int kPatience = 5;

constexpr double kNothing = 0.0005;  ///< a gain that would be shown as 0.0 %

/// As long as no run completes and meets the limits, such a probability of it is a small gain.
constexpr double kUnlikely = 0.05;

std::map<int, study::RunRecord> records_of(const study::StudyDirectory& directory) {
  return study::final_records(study::read_journal(directory).records);
}

/// Appends proposals to the plan.
std::vector<NextRun> planned(study::StudyDirectory& directory,
                             const std::vector<Proposal>& proposals) {
  std::vector<NextRun> runs;
  if (proposals.empty()) return runs;
  const std::size_t before = directory.plan.runs.size();
  study::extend_directory(directory, with_proposals(directory.study, directory.plan, proposals));
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    runs.push_back({directory.plan.runs[before + i], proposals[i]});
  }
  return runs;
}

/// The first of the proposals that need at most so many changes of hard-to-change settings.
std::vector<Proposal> first_plots(const Problem& problem, std::vector<Proposal> proposals,
                                  int plots) {
  if (!has_whole_plots(problem)) return proposals;
  std::optional<Settings> in_place = problem.cost.in_place;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Settings& settings = proposals[i].settings;
    if (!in_place || !same_whole_plot(problem, settings, *in_place)) --plots;
    if (plots < 0) {
      proposals.resize(i);
      break;
    }
    in_place = settings;
  }
  return proposals;
}

/// The goals, if none has varied in the start and as many runs after it as a search is patient, and
/// a run meets the limits: "throughput and cost". Else empty.
std::string unvaried_goals(const study::StudyDirectory& directory) {
  const Problem problem = problem_of(directory.study);
  std::vector<Observation> completed = observations_of(directory, records_of(directory));
  std::erase_if(completed, [](const auto& run) { return !run.completed || run.ended_early(); });
  const int enough = start_size(problem, default_budget(directory.study)) + kPatience;
  if (static_cast<int>(completed.size()) < enough || !best_measured(problem, completed)) return "";
  std::vector<std::string> names;
  for (const Objective& objective : problem.objectives) {
    if (objective.goal.is_limit()) continue;
    std::set<double> values;
    for (const Observation& run : completed) {
      const auto value = run.values.find(objective.name);
      if (value == run.values.end()) return "";
      values.insert(value->second);
    }
    if (values.size() > 1) return "";
    names.push_back(objective.name);
  }
  return analysis::listed(names);
}

auto fields_of(const SearchLimits& limits) {
  return std::make_tuple(limits.budget, limits.tolerance, limits.seconds, limits.gpu_seconds,
                         limits.joules, limits.front);
}

/// A search that has ended goes on, until little is to be gained.
study::SearchState reopened(study::SearchState state) {
  state.goes_on = true;
  if (state.end.empty()) return state;
  state.end.clear();
  state.small_gains = kPatience - 1;
  return state;
}

/// With other limits, a search that has ended goes on.
study::SearchState with_limits(const study::Study& study, const study::SearchState& before,
                               const SearchLimits& limits) {
  study::SearchState state = before;
  std::tie(state.budget, state.tolerance, state.seconds, state.gpu_seconds, state.joules,
           state.front) = fields_of(limits);
  return fields_of(limits) == fields_of(search_limits(study, before)) ? state : reopened(state);
}

/// The number of runs that may still be made before the confirmation runs.
int runs_within(const SearchLimits& limits, const study::StudyDirectory& directory) {
  return limits.budget - limits.validating() - static_cast<int>(directory.plan.runs.size());
}

/// What the confirmation runs of the optimum show; empty without any.
std::optional<Validation> validation_of(const study::StudyDirectory& directory) {
  const auto confirmation = analysis::confirmation_of(analysis::analyse(directory));
  if (!confirmation) return std::nullopt;
  return confirmation->validation;
}

/// Adds runs to a confirmation that shows neither a gain nor none, where there should be more.
void confirm_again(study::StudyDirectory& directory, std::optional<Validation> validation,
                   const SearchLimits& limits) {
  const bool is_open = validation == Validation::kInconclusive && !limits.front;
  const int more = is_open ? more_confirmations(directory, limits) : 0;
  if (more > 0) plan_confirmation(directory, more);
}

/// Whether there are settings to confirm: an optimum that is predicted to meet the limits.
bool has_optimum(const study::StudyDirectory& directory) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  return analysis.optimum && analysis.optimum->feasible;
}

/// Whether a confirmation has been begun and not ended.
bool is_pending(const study::StudyDirectory& directory) {
  const auto pending = pending_runs(directory, static_cast<int>(directory.plan.runs.size()));
  return std::any_of(pending.begin(), pending.end(), [](const NextRun& next) {
    return next.run.type == doe::PointType::kConfirmation;
  });
}

/// Why no further runs are asked for; empty if they are. Runs whose values are of no use count as
/// failed.
std::string in_vain(const study::StudyDirectory& directory) {
  if (directory.study.run.on_failure == study::OnFailure::kContinue) return "";
  const auto records = study::usable_records(directory, records_of(directory));
  const std::string reason = analysis::first_runs_failed_alike(records);
  if (reason.empty()) return "";
  return fmt::format(
      "all runs so far have failed in the same way ({}), and others probably would too", reason);
}

/// Whether the search ended before, with runs that confirm.
bool is_confirming(const study::StudyDirectory& directory) {
  const auto& runs = directory.plan.runs;
  return std::any_of(runs.begin(), runs.end(), [](const study::PlannedRun& run) {
    return run.type == doe::PointType::kConfirmation;
  });
}

}  // namespace

int default_batch(const study::Study& study, int jobs) {
  const bool plots = !study.run.server.set_up.empty() && has_whole_plots(problem_of(study));
  return plots ? jobs * kRunsOfPlot : jobs;
}

study::StudyDirectory create_search(const std::filesystem::path& path, const study::Study& study,
                                    int budget, const PlanCheck& check) {
  const study::Plan plan = first_plan(study, budget);
  if (check) check(plan);
  auto directory = study::create_directory(path, search_study(study, budget), plan, false);
  study::SearchState state;
  state.budget = budget;
  study::write_search_state(path, state);
  return directory;
}

void check_budget(const study::StudyDirectory& directory, int budget) {
  const auto is_of_start = [](const study::PlannedRun& run) {
    return run.type != doe::PointType::kProposed && !run.validates();
  };
  const auto& runs = directory.plan.runs;
  const auto pending = pending_runs(directory, static_cast<int>(runs.size()));
  const bool is_to_be_made = std::any_of(
      pending.begin(), pending.end(), [&](const NextRun& next) { return is_of_start(next.run); });
  if (!is_to_be_made) return;
  const auto start = std::count_if(runs.begin(), runs.end(), is_of_start);
  check_budget(directory.study, static_cast<std::size_t>(start), budget);
}

ContinuedSearch continue_search(const std::filesystem::path& path, const study::Study& study,
                                bool is_latest) {
  ContinuedSearch search{study::open_directory(path), {}};
  auto keys = study::edited_keys(search.directory, study);
  if (keys.empty() || !is_latest) return search;
  problem_of(study);  // an error in the goals comes before anything is written
  const bool is_about_goals = std::any_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key != "run" && key != "confirm";
  });
  // First, since whoever is interrupted between the two and calls again finds the study unedited.
  // What little other goals had to gain says nothing about these.
  if (is_about_goals) {
    study::SearchState state = reopened(study::read_search_state(path));
    state.small_gains = 0;
    study::write_search_state(path, state);
  }
  study::edit_study(search.directory, study);
  search.edited = std::move(keys);
  return search;
}

ContinuedSearch begin_search(const std::filesystem::path& path, const study::Study& study,
                             const std::optional<std::filesystem::path>& file,
                             const std::function<study::StudyDirectory()>& create) {
  const auto continued = [&] {
    return continue_search(path, study, !file || study::is_newer(*file, path));
  };
  return study::when_free([&]() -> ContinuedSearch {
    if (study::is_study_directory(path)) return continued();
    try {
      return {create(), {}};
    } catch (const study::DirectoryInUse&) {
      throw;
    } catch (const study::DirectoryError&) {
      if (!study::is_study_directory(path)) throw;
      return continued();  // another one was faster
    }
  });
}

std::vector<NextRun> pending_runs(const study::StudyDirectory& directory, int most) {
  const auto records = records_of(directory);
  std::vector<NextRun> pending;
  for (const study::PlannedRun& run : directory.plan.runs) {
    if (static_cast<int>(pending.size()) == most) break;
    if (!records.contains(run.run)) pending.push_back({run});
  }
  return pending;
}

std::vector<int> plan_confirmation(study::StudyDirectory& directory, int runs) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  if (!analysis.optimum || !analysis.optimum->feasible) return {};
  study::ValidatedSettings validated = analysis::validated_settings(analysis);
  const doe::Region& region = directory.study.region;
  if (validated.baseline && !region.allows(*validated.baseline)) validated.baseline.reset();
  study::Plan plan = study::confirmation_plan(directory.plan, directory.study, validated, runs);
  const std::vector<int> numbers = study::validation_runs(plan, validated).all();
  if (plan.runs.size() > directory.plan.runs.size()) {
    study::extend_directory(directory, std::move(plan));
  }
  return numbers;
}

int more_confirmations(const study::StudyDirectory& directory, const SearchLimits& limits) {
  const auto confirmation = analysis::confirmation_of(analysis::analyse(directory));
  if (!confirmation || confirmation->doubt != analysis::Confirmation::Doubt::kGain) return 0;
  const auto made = static_cast<double>(confirmation->planned.confirmation.size());
  if (made > limits.confirmations) return 0;
  const auto settings = static_cast<double>(confirmation->planned.all().size()) / made;
  const auto planned = static_cast<double>(directory.plan.runs.size());
  double more = std::min(made, std::floor((limits.budget - planned) / settings));
  for (const Resource& resource : resources(study::read_journal(directory).records, limits)) {
    more = std::min(more, std::floor(resource.runs_for(resource.left()) / settings));
  }
  return 2 * more >= made ? static_cast<int>(made + more) : 0;
}

Search::Search(const study::StudyDirectory& directory, const SearchLimits& limits)
    : limits_(limits) {
  const study::SearchState before = study::read_search_state(directory.path);
  state_ = with_limits(directory.study, before, limits);
  study::write_search_state(directory.path, state_);
  const bool unknown = before == study::SearchState() && is_confirming(directory);
  if (state_.end.empty() && !unknown) return;
  // A search that ended once needs no more proof that little is to be gained, unless what it
  // predicted proved wrong: then often other settings are the optimum, which nobody has confirmed.
  const auto validation = validation_of(directory);
  const bool is_wrong =
      validation ? *validation == Validation::kNotConfirmed : is_confirming(directory);
  state_.small_gains = is_wrong ? 0 : kPatience - 1;
  state_.end.clear();
}

int Search::runs_left(const study::StudyDirectory& directory) const {
  return runs_within(limits_, directory);
}

std::vector<NextRun> Search::propose(study::StudyDirectory& directory, int batch) {
  auto [runs_now, reason] = affordable(directory, limits_, batch);
  if (runs_now < 1 && limits_.confirmations > 0) {
    // What is kept for a confirmation may find something to confirm.
    SearchLimits all = limits_;
    all.confirmations = 0;
    auto last = affordable(directory, all, 1);
    if (last.first < 1 || !has_optimum(directory)) std::tie(runs_now, reason) = std::move(last);
  }
  if (runs_now < 1) return ends(directory, std::move(reason));
  if (auto failed = in_vain(directory); !failed.empty()) return ends(directory, std::move(failed));
  const std::string unvaried = limits_.tolerance > 0 ? unvaried_goals(directory) : "";
  if (!unvaried.empty())
    return ends(directory, "all completed runs have given the same " + unvaried);
  const std::vector<Proposal> proposed = proposals(directory, runs_now);
  if (proposed.empty()) return ends(directory, "every configuration has been tried");
  const Proposal& best = proposed.front();
  const auto gain = best.gain;
  const bool is_unlikely = limits_.tolerance > 0 && best.completes * best.meets_limits < kUnlikely;
  const bool small = gain ? *gain < limits_.tolerance : is_unlikely;
  if (!small || !best.untried) state_.small_gains = small ? state_.small_gains + 1 : 0;
  if (state_.small_gains >= kPatience && !gain) {
    const bool works = analysis::any_completed(records_of(directory));
    return ends(directory, works ? "no run meets the limits, and no other is likely to"
                                 : "no run has completed, and no other is likely to");
  }
  if (state_.small_gains >= kPatience) {
    const std::string little =
        *gain < kNothing ? "nothing" : fmt::format("only {:.1f} %", 100 * *gain);
    return ends(directory, "another run is expected to gain " + little);
  }
  auto runs = planned(directory, proposed);
  state_.goes_on = false;
  study::when_free([&] { study::write_search_state(directory.path, state_); });
  return runs;
}

std::vector<Proposal> Search::proposals(const study::StudyDirectory& directory, int batch) const {
  const auto records = records_of(directory);
  Problem problem = open_problem(directory, records);
  problem.front = limits_.front;
  problem.cost.by_time = std::isfinite(limits_.seconds) || std::isfinite(limits_.gpu_seconds) ||
                         std::isfinite(limits_.joules);
  if (std::isfinite(limits_.gpu_seconds)) problem.cost.weight = gpus_of(directory.study);
  return first_plots(problem, next_runs(problem, observations_of(directory, records), batch),
                     limits_.jobs);
}

std::pair<int, std::string> Search::affordable(const study::StudyDirectory& directory,
                                               const SearchLimits& limits, int batch) const {
  const int left = runs_within(limits, directory);
  if (left < 1) {
    const bool is_reserved = left == 0 && limits.validating() > 0;
    return {0,
            fmt::format("{} of {} runs have been made{}", directory.plan.runs.size(), limits.budget,
                        is_reserved ? "; the rest are reserved for the confirmation" : "")};
  }
  batch = std::min(batch, left);
  const auto records = study::read_journal(directory).records;
  if (records.empty()) return {batch, ""};
  if (std::isfinite(limits.joules) && !record_power(records)) {
    return {0,
            "no run has recorded the power of GPUs or processors, so the energy used is unknown"};
  }
  for (const Resource& resource : resources(records, limits)) {
    const double runs =
        resource.runs_for(resource.left()) - limits.settings * resource.confirmations(limits);
    if (runs >= std::min(batch, resource.shared_by)) {
      batch = static_cast<int>(std::min<double>(batch, runs));
      continue;
    }
    const char* why = resource.used < resource.limit && limits.confirmations > 0
                          ? "; another run would leave too little for the confirmation"
                          : "";
    return {0, fmt::format("{} of {}{} used{}", resource.text(resource.used),
                           resource.text(resource.limit), resource.of, why)};
  }
  return {batch, ""};
}

int Search::confirmations(const study::StudyDirectory& directory) const {
  if (limits_.confirmations < 1) return 0;
  const auto confirmation = analysis::confirmation_of(analysis::analyse(directory));
  const int made = confirmation ? static_cast<int>(confirmation->planned.confirmation.size()) : 0;
  const int left = limits_.budget - static_cast<int>(directory.plan.runs.size());
  double runs = std::min(limits_.confirmations, made + std::max(0, left) / limits_.settings);
  for (const Resource& resource : resources(study::read_journal(directory).records, limits_)) {
    const double paid = std::floor(resource.runs_for(resource.left()) / limits_.settings);
    runs = std::min({runs, paid, static_cast<double>(resource.confirmations(limits_))});
  }
  const bool is_begun = made > 0 || is_pending(directory);
  return std::max(static_cast<int>(runs), is_begun ? 1 : 0);
}

bool Search::has_means(const study::StudyDirectory& directory) const {
  const auto all = resources(study::read_journal(directory).records, limits_);
  return std::all_of(all.begin(), all.end(), [](const Resource& resource) {
    return resource.runs_for(resource.left()) >= 1;
  });
}

std::vector<NextRun> Search::ends(const study::StudyDirectory& directory, std::string reason) {
  state_.end = std::move(reason);
  state_.goes_on = false;
  study::write_search_state(directory.path, state_);
  return {};
}

NextRuns next_of_search(study::StudyDirectory& directory, const SearchLimits& limits, int batch) {
  check_budget(directory, limits.budget);
  if (const auto reason = in_vain(directory); !reason.empty()) {
    return {{},
            reason +
                "; once that is solved, tell the result of one of them, or set run: "
                "{on_failure: continue}",
            true};
  }
  const study::SearchState before = study::read_search_state(directory.path);
  const study::SearchState now = with_limits(directory.study, before, limits);
  if (auto pending = pending_runs(directory, batch); !pending.empty()) {
    { const study::DirectoryLock others_may_be_making_them(directory.path); }
    study::write_search_state(directory.path, now);
    return {std::move(pending), now.end};
  }
  if (!now.goes_on && is_confirming(directory)) {
    const auto validation = validation_of(directory);
    confirm_again(directory, validation, limits);
    if (auto more = pending_runs(directory, batch); !more.empty())
      return {std::move(more), now.end};
    if (validation && *validation != Validation::kNotConfirmed)
      return {{},
              now.end.empty() ? "the confirmation runs of the optimum have been made" : now.end};
  }
  Search search(directory, limits);
  if (auto proposed = search.propose(directory, batch); !proposed.empty())
    return {std::move(proposed), ""};
  const int confirmations = limits.front ? 0 : search.confirmations(directory);
  if (confirmations > 0) plan_confirmation(directory, confirmations);
  if (!limits.front && pending_runs(directory, 1).empty())
    confirm_again(directory, validation_of(directory), limits);
  return {pending_runs(directory, batch), search.reason()};
}

}  // namespace doetune::tuning
