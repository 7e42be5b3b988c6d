#include "cli/runs/confirm_optimum.h"

#include <fmt/format.h>

#include <map>

#include "analysis/confirmation.h"
#include "analysis/fitted_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/json_format.h"
#include "base/standard_streams.h"
#include "cli/documents.h"
#include "cli/options/run_options.h"
#include "cli/runs/dry_run.h"
#include "cli/runs/execute_in_study.h"
#include "cli/terminal/plan_table.h"
#include "cli/terminal/print_verdict.h"
#include "cli/terminal/terminal.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"
#include "runner/loop/planned_attempts.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "surfaces/optimum.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

using Validation = analysis::Confirmation::Validation;

/// Why nothing can be confirmed; code kDone if something can.
struct Obstacle {
  ExitCode code = kDone;
  std::string message;
  std::string next;
};

Obstacle obstacle_to(const analysis::Analysis& analysis) {
  const analysis::Verdict verdict = analysis::verdict(analysis);
  if (const int missing = analysis::FittedRuns(analysis).missing; missing > 0) {
    return {kRunsMissing,
            fmt::format("there is no optimum to confirm yet: {} of the plan {} not been made",
                        analysis::count_of(missing, "run"), missing == 1 ? "has" : "have"),
            next_of(verdict)};
  }
  switch (verdict.status) {
    case analysis::Status::kPartial:
    case analysis::Status::kNoGoals:
      return {kRunsMissing, "there is no optimum to confirm: " + verdict.headline,
              next_of(verdict)};
    case analysis::Status::kInfeasible:
      return {kNoSettingsMeetGoals, "there is no configuration to confirm: " + verdict.headline,
              next_of(verdict)};
    default:
      return {};
  }
}

/// Runs the baseline as well, if every factor has one, it can run and the region permits it.
study::ValidatedSettings settings_to_run(const analysis::Analysis& analysis) {
  study::ValidatedSettings validated = analysis::validated_settings(analysis);
  if (!validated.baseline && surfaces::baseline_of(analysis.directory->study.factors))
    print_message("The baseline is not run: it was infeasible\n");
  if (!validated.baseline || *validated.baseline == validated.settings) return validated;
  const doe::Region& region = analysis.directory->study.region;
  if (const auto reason = region.excluded_by(*validated.baseline)) {
    print_message("The baseline is not run: the study does not allow it ({})\n", *reason);
    validated.baseline.reset();
  }
  return validated;
}

void say_what_is_run(const study::StudyDirectory& directory,
                     const study::ValidatedSettings& validated, const study::ValidationRuns& runs) {
  const std::vector<doe::Factor>& factors = directory.study.factors;
  print_message("Confirming {} with {}\n", analysis::settings_text(factors, validated.settings),
                analysis::count_of(static_cast<int>(runs.confirmation.size()), "run"));
  if (runs.baseline.empty()) return;
  print_message("and the baseline {} with {}\n",
                analysis::settings_text(factors, *validated.baseline),
                analysis::count_of(static_cast<int>(runs.baseline.size()), "run"));
}

/// Explains the mean of responses that are fitted on a transformed scale.
void print_which_mean(const analysis::Confirmation& confirmation) {
  std::map<std::string, std::string> responses;  // by kind of mean
  for (const analysis::ConfirmedResponse& response : confirmation.responses) {
    const surfaces::Transform& transform = response.measured.transform;
    if (transform == surfaces::Transform::kNone) continue;
    std::string& names =
        responses[fmt::format("the {} of its runs, because its surface is fitted{}",
                              analysis::mean_words(transform), analysis::scale_words(transform))];
    names += (names.empty() ? "" : ", ") + response.name;
  }
  for (const auto& [mean, names] : responses) {
    fmt::print("  {}\n", wrapped(fmt::format("mean of {}: {}", names, mean), 4, kColumns));
  }
}

void print_responses(const analysis::Confirmation& confirmation) {
  TextTable table({"response", "predicted", "expected, 95 %", "measured mean", "", "goal"});
  for (const analysis::ConfirmedResponse& response : confirmation.responses) {
    const char* word = !response.agrees ? "" : *response.agrees ? "agrees" : "DISAGREES";
    const bool missed = response.limit == analysis::LimitHeld::kNo;
    const std::string goal =
        response.goal ? analysis::goal_text(*response.goal, response.unit) : "-";
    table.add({analysis::name_with_unit(response.name, response.unit),
               analysis::number_beside(response.predicted.response(), 0, response.goal),
               response.joint_range ? analysis::interval_text(*response.joint_range) : "unknown",
               analysis::mean_text(response.measured, response.goal), word,
               missed ? goal + " MISSED" : goal});
  }
  fmt::print("\n{}", table.str());
  print_which_mean(confirmation);
}

void print_gains(const analysis::Confirmation& confirmation) {
  TextTable table({"relative to the baseline, measured", ""});
  bool any = false;
  for (const analysis::ConfirmedResponse& response : confirmation.responses) {
    if (!response.gain) continue;
    table.add({response.name, analysis::gain_text(*response.gain, response.unit)});
    any = true;
  }
  if (any) fmt::print("\n{}", table.str());
}

/// The result of the confirmation runs.
struct Conclusion {
  const analysis::Analysis& analysis;
  const analysis::Verdict& verdict;
  int added;  ///< number of runs added
};

json::Format<Conclusion> conclusion_format(const std::vector<doe::Factor>& factors = {}) {
  const auto settings = [](const Conclusion& conclusion) {
    const auto& optimum = conclusion.analysis.optimum;
    return optimum ? &optimum->best.settings : nullptr;
  };
  const auto confirmation = [](const Conclusion& conclusion) {
    return analysis::confirmation_of(conclusion.analysis);
  };
  return json::document<Conclusion>(
      {{"directory", [](const Conclusion& made) { return made.analysis.directory->path; }},
       {[](const Conclusion& made) { return made.verdict; }, reports::verdict_format()},
       {"runs_added", &Conclusion::added},
       {"settings", settings, reports::settings_format(factors)},
       {"confirmation", confirmation, reports::confirmation_format()}});
}

void print_json(const Conclusion& conclusion) {
  const auto format = conclusion_format(conclusion.analysis.directory->study.factors);
  fmt::print("{}", format.text(conclusion));
}

/// Whether the settings are still the optimum: settings that proved infeasible are not.
bool still_proposed(const analysis::Analysis& analysis, const study::ValidatedSettings& validated) {
  return analysis.optimum && analysis.optimum->best.settings == validated.settings;
}

int exit_code(const analysis::Analysis& analysis, const study::ValidatedSettings& validated,
              const std::optional<analysis::Confirmation>& confirmation) {
  if (!still_proposed(analysis, validated)) return kNotConfirmed;
  if (confirmation->validation == Validation::kNotConfirmed) return kNotConfirmed;
  const bool incomplete = confirmation->failed + confirmation->missing > 0;
  const bool undecided = confirmation->validation == Validation::kOpen ||
                         confirmation->validation == Validation::kInconclusive;
  return incomplete || undecided ? kRunsMissing : kDone;
}

/// The settings that the verdict is about.
void print_optimum_settings(const analysis::Analysis& analysis) {
  if (!analysis.optimum) return;
  const std::string settings =
      analysis::settings_text(analysis.directory->study.factors, analysis.optimum->best.settings);
  fmt::print("  {}\n", wrapped(settings, 2, kColumns));
}

/// Assesses the completed confirmation runs, and ends the command.
int conclude(const study::StudyDirectory& directory, const study::ValidatedSettings& validated,
             bool json, int added, const GoesOn& goes_on = {}) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  const auto confirmation = analysis::confirmation_of(analysis);
  const analysis::Verdict verdict = analysis::verdict(analysis);
  const int code = exit_code(analysis, validated, confirmation);
  const bool is_last = !goes_on || !goes_on(code);
  if (!still_proposed(analysis, validated)) {
    print_message("NOT CONFIRMED: this configuration cannot run: {}\n",
                  analysis::settings_text(directory.study.factors, validated.settings));
  }
  if (json) {
    if (is_last) print_json({analysis, verdict, added});
  } else {
    print_verdict(verdict);
    if (confirmation) {
      print_responses(*confirmation);
      print_gains(*confirmation);
    }
    print_preference(analysis);
  }
  if (!is_last) return code;
  const bool report = code == kDone || verdict.next_command.empty();
  say_next(report ? fmt::format("doetune report {}", study::shell_quoted(directory.path.string()))
                  : verdict.next_command);
  return code;
}

/// Says which runs the user is to make; once they are told, what they show.
int confirm_by_user(const Options& options, study::StudyDirectory& directory,
                    const study::ValidatedSettings& validated, study::Plan plan) {
  const bool is_dry = options.has("dry-run");
  const auto added = static_cast<int>(plan.runs.size() - directory.plan.runs.size());
  if (is_dry) {
    directory.plan = std::move(plan);
  } else if (added > 0) {
    study::extend_directory(directory, std::move(plan));
  }
  const study::ValidationRuns runs = study::validation_runs(directory.plan, validated);
  const auto records = study::final_records(study::read_journal(directory).records);
  std::vector<int> missing = runs.all();
  std::erase_if(missing, [&](int run) { return records.contains(run); });
  if (missing.empty() && !is_dry) return conclude(directory, validated, options.json(), added);
  if (options.json()) {
    const analysis::Analysis analysis = analysis::analyse(directory);
    print_json({analysis, analysis::verdict(analysis), is_dry ? 0 : added});
  } else {
    fmt::print("{}, in this order{}:\n", is_dry ? "You would make these runs" : "Make these runs",
               is_dry ? "" : ", and record each of them");
    for (const int run : missing) {
      const study::PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
      fmt::print("run {}: {} ({})\n", run,
                 analysis::settings_text(directory.study.factors, planned.settings),
                 doe::point_type_name(planned.type));
    }
  }
  if (is_dry) return kDone;
  say_next(fmt::format("doetune tell {} --run {} ...", study::shell_quoted(directory.path.string()),
                       missing.front()));
  return kRunsMissing;
}

}  // namespace

int confirm_optimum(const Options& options, study::StudyDirectory& directory, int runs,
                    std::string_view command, const GoesOn& goes_on) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  if (const Obstacle obstacle = obstacle_to(analysis); obstacle.code != kDone) {
    say_warnings(analysis.warnings);
    if (options.json()) print_json({analysis, analysis::verdict(analysis), 0});
    print_message("{}\n", obstacle.message);
    say_next(obstacle.next);
    return obstacle.code;
  }
  const study::ValidatedSettings validated = settings_to_run(analysis);
  study::Plan plan = study::confirmation_plan(directory.plan, directory.study, validated, runs);
  if (!directory.study.has_program())
    return confirm_by_user(options, directory, validated, std::move(plan));
  const auto added = static_cast<int>(plan.runs.size() - directory.plan.runs.size());
  runner::RunOptions run = run_options(options);
  run.only = study::validation_runs(plan, validated).all();
  const auto launcher = make_launcher(options, directory);
  study::StudyDirectory extended = directory;
  extended.plan = plan;
  // Find errors before changing the plan on disk.
  const auto planned = runner::planned_attempts(extended, run, *launcher);
  if (options.has("dry-run")) {
    options.json() ? print_dry_run_json(extended, planned) : print_dry_run(extended, planned);
    return kDone;
  }
  if (added > 0) study::extend_directory(directory, std::move(plan));
  if (!planned.empty())
    say_what_is_run(directory, validated, study::validation_runs(directory.plan, validated));
  runner::ProgressPrinter printer(directory.study, runner::ProgressOutput::of(stderr));
  runner::SignalInterrupts interrupts;
  const bool runs_left =
      runner::run_study(directory, run, *launcher, printer, interrupts).interrupted;
  printer.clear();
  const bool interrupted = runs_left || interrupts.count() > 0;  // perhaps in the last run
  if (interrupted) return conclude_interrupted(directory, command);
  return conclude(directory, validated, options.json(), added, goes_on);
}

bool can_be_confirmed(const study::StudyDirectory& directory) {
  return obstacle_to(analysis::analyse(directory)).code == kDone;
}

int conclude_unconfirmed(const study::StudyDirectory& directory, bool json) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  const analysis::Verdict verdict = analysis::verdict(analysis);
  if (json) {
    print_json({analysis, verdict, 0});
  } else {
    print_verdict(verdict);
    print_optimum_settings(analysis);
    print_preference(analysis);
  }
  if (const Obstacle obstacle = obstacle_to(analysis); obstacle.code != kDone) {
    say_next(obstacle.next);
    return obstacle.code;
  }
  const auto confirmation = analysis::confirmation_of(analysis);
  say_next(fmt::format("doetune {} {}", confirmation ? "report" : "confirm",
                       study::shell_quoted(directory.path.string())));
  return confirmation ? exit_code(analysis, analysis::validated_settings(analysis), confirmation)
                      : kDone;
}

json::Schema confirm_schema() {
  return json::either({conclusion_format().schema, dry_run_schema()});
}

}  // namespace doetune::cli
