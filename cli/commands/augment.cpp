#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analysis/analysis.h"
#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/plan_table.h"
#include "cli/terminal/terminal.h"
#include "doe/design.h"
#include "reports/json/json_parts.h"
#include "study/argument_template.h"
#include "study/augment.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"

namespace doetune::cli {
namespace {

/// Design types that can augment existing runs.
const std::vector<std::string> kExtending{
    "d-optimal", "i-optimal",     "a-optimal", "compound-optimal",
    "g-optimal", "space-filling", "sobol"};

/// The study's region, without settings that are less likely to complete than the study wants.
doe::Region region_of(const study::StudyDirectory& directory) {
  const auto feasibility = analysis::completion_model(directory);
  if (!feasibility) return directory.study.region;
  const double wanted = directory.study.feasibility;
  return directory.study.region.where(
      [feasibility, wanted,
       &factors = directory.study.factors](const std::vector<double>& natural) {
        return feasibility->probability(doe::coded_point(factors, natural)) >= wanted;
      },
      fmt::format("a run completes with a probability of less than {}", analysis::percent(wanted)));
}

study::Augmentation augmentation_of(const Options& options,
                                    const study::StudyDirectory& directory) {
  const study::Study& study = directory.study;
  study::Augmentation augmentation;
  augmentation.region = region_of(directory);
  augmentation.runs = options.integer("runs", 0);
  augmentation.model = study.model;
  augmentation.center_runs = options.integer("center-runs", augmentation.center_runs);
  if (options.has("factor")) augmentation.factor = checked_factor(options, "factor", study);
  const int ways = (options.has("runs") ? 1 : 0) + (options.has("fold-over") ? 1 : 0) +
                   (options.has("axial") ? 1 : 0);
  if (ways != 1) throw UsageError("doetune augment: give one of --runs N, --fold-over, --axial");
  if (options.has("fold-over")) augmentation.kind = study::Augmentation::Kind::kFoldOver;
  if (options.has("axial")) augmentation.kind = study::Augmentation::Kind::kAxial;
  if (options.has("runs") && augmentation.runs < 1) {
    throw UsageError(
        fmt::format("--runs: expected an integer of at least 1, found '{}'", augmentation.runs));
  }
  augmentation.include_confirmation = options.has("include-confirmation");
  if (augmentation.include_confirmation && !options.has("runs")) {
    throw UsageError("doetune augment: --include-confirmation is for --runs N");
  }
  if (options.has("design")) augmentation.design = options.text("design");
  if (const auto model = analysis_options(options, study).model) {
    augmentation.model = doe::Model::named(*model, study.factors);
  }
  return augmentation;
}

/// An extended plan.
struct Augmented {
  const study::StudyDirectory* directory;
  int before;  ///< previous number of runs

  std::size_t runs() const { return directory->plan.runs.size(); }
  std::vector<study::PlannedRun> added() const {
    return {directory->plan.runs.begin() + before, directory->plan.runs.end()};
  }
};

json::Format<Augmented> augmented_format(const std::vector<doe::Factor>& factors = {}) {
  using study::PlannedRun;
  const auto added = json::object<PlannedRun>(
      {{"run", &PlannedRun::run},
       {"settings", &PlannedRun::settings, reports::settings_format(factors)}});
  return json::document<Augmented>(
      {{"directory", [](const Augmented& augmented) { return augmented.directory->path; }},
       {"runs_before", &Augmented::before},
       {"runs", &Augmented::runs},
       {"added", &Augmented::added, added}});
}

}  // namespace

json::Schema augment_schema() { return augmented_format().schema; }

void describe_augment(Options& options) {
  namespace po = boost::program_options;
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  options.add()("runs", po::value<int>()->value_name("N"), "number of runs to add")(
      "design", text("TYPE"),
      "criterion for the added runs: d-optimal (default), i-optimal, a-optimal, compound-optimal, "
      "g-optimal, space-filling, sobol")(
      "model", text("MODEL"), "model that all runs together must determine (default: the study's)")(
      "fold-over", "add a copy of the run sheet with every factor reversed")(
      "factor", text("FACTOR"), "with --fold-over: reverse only this factor")(
      "axial", "add axial and centre runs, to estimate curvature after screening")(
      "center-runs", po::value<int>()->value_name("N"), "with --axial: number of centre runs (3)")(
      "include-confirmation",
      "count confirmation and baseline runs as existing, as `fit --with-confirmation` does")(
      "dry-run", "show the runs without adding them");
  options.choices("design", {kExtending});
  options.choices("model", {doe::Model::names()});
  add_directory(options);
}

int command_augment(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  study::StudyDirectory directory = open_for_runs(options);
  std::unique_ptr<study::DirectoryHold> hold;
  if (!options.has("dry-run")) {
    augmentation_of(options, directory);  // mistakes in options are said at once
    hold = study::hold_when_free(directory);
  }
  say_warnings(study::read_journal(directory).warnings);
  const int before = static_cast<int>(directory.plan.runs.size());
  const std::size_t notes_before = directory.plan.notes.size();
  study::Plan plan = study::augmented_plan(directory, augmentation_of(options, directory));
  if (options.has("dry-run")) {
    directory.plan = std::move(plan);
  } else {
    study::extend_directory(directory, std::move(plan));
  }
  if (options.json()) {
    fmt::print("{}", augmented_format(directory.study.factors).text({&directory, before}));
  } else {
    print_runs(directory.study, directory.plan, before);
    fmt::print("\n{} {} {}\n",
               analysis::count_of(static_cast<int>(directory.plan.runs.size()) - before, "run"),
               options.has("dry-run") ? "would be added to" : "added to", directory.path.string());
    const auto counted = std::count_if(directory.plan.runs.begin(), directory.plan.runs.end(),
                                       [](const auto& run) { return run.validates(); });
    if (options.has("include-confirmation") && counted > 0) {
      fmt::print(
          "{} counted as part of the design: `doetune fit --with-confirmation` fits them too\n",
          analysis::count_of(static_cast<int>(counted), "confirmation or baseline run"));
    }
    if (directory.plan.search) print_search(*directory.plan.search);
    for (std::size_t i = notes_before; i < directory.plan.notes.size(); ++i) {
      fmt::print("note: {}\n", directory.plan.notes[i]);
    }
  }
  if (!options.has("dry-run"))
    say_next(fmt::format("doetune {} {}", directory.study.has_program() ? "run" : "next",
                         study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
