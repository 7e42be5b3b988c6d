#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/runs/program_check.h"
#include "cli/terminal/plan_table.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/directory.h"
#include "study/directory/journal.h"
#include "study/directory/measured_costs.h"
#include "study/directory/plan_json.h"

namespace doetune::cli {
namespace {

std::string expected_time(const study::Study& study, std::size_t runs) {
  const auto jobs = static_cast<std::size_t>(study.run.jobs.value_or(1));
  const double waves = static_cast<double>((runs + jobs - 1) / jobs);
  if (study.run.expected_s) {
    return fmt::format("about {}", analysis::duration_text(waves * *study.run.expected_s));
  }
  return fmt::format("unknown before the first run; at most {}, by the time limit of {} per run",
                     analysis::duration_text(waves * study.run.timeout_s),
                     analysis::duration_text(study.run.timeout_s));
}

/// A list of terms without "1" is rarely meant.
std::string note_on_constant(const study::Study& study) {
  const std::vector<std::string> terms = study.model.term_names();
  if (std::find(terms.begin(), terms.end(), "1") != terms.end()) return "";
  return "note: the model has no intercept (the term \"1\"), so every response is taken to be 0 at "
         "the centre of the ranges; add \"1\" to the list unless that is intended";
}

void print_plan(const study::StudyDirectory& directory) {
  const study::Study& study = directory.study;
  const doe::Evaluation& evaluation = directory.plan.evaluation;
  print_runs(study, directory.plan, 0);
  fmt::print("\n{} with {} for {} model terms ({}){}\n", study.design.type,
             analysis::count_of(evaluation.runs, "run"), evaluation.terms, study.model_name,
             evaluation.d_efficiency
                 ? fmt::format(", D-efficiency {:.1f} %", *evaluation.d_efficiency)
                 : "");
  if (directory.plan.search) print_search(*directory.plan.search);
  fmt::print("{}\n", wrapped("expected time: " + expected_time(study, directory.plan.runs.size()),
                             0, kColumns));
  for (const std::string& note : directory.plan.notes) fmt::print("note: {}\n", note);
  for (const std::string& note : notes_on_command(study))
    fmt::print("{}\n", wrapped(note, 2, kColumns));
  if (const std::string note = note_on_constant(study); !note.empty()) {
    fmt::print("{}\n", wrapped(note, 2, kColumns));
  }
}

json::Format<study::StudyDirectory> planned_format(const std::string& hash = "") {
  using study::StudyDirectory;
  const auto expected_s = [](const StudyDirectory& directory) -> std::optional<double> {
    const study::RunSettings& run = directory.study.run;
    if (!run.expected_s) return std::nullopt;
    return *run.expected_s * static_cast<double>(directory.plan.runs.size()) / run.jobs.value_or(1);
  };
  return json::document<StudyDirectory>({{"directory", &StudyDirectory::path},
                                         {std::identity(), study::plan_format({hash})},
                                         {"expected_time_s", expected_s}});
}

/// A plan of one run, anywhere in the ranges.
study::Plan one_run(const study::Study& study) {
  const auto k = static_cast<Eigen::Index>(study.factors.size());
  study::Plan plan;
  plan.runs.emplace_back();
  plan.runs.front().run = 1;
  plan.runs.front().settings = doe::natural_settings(study.factors, Eigen::VectorXd::Zero(k));
  return plan;
}

/// Sets the costs in the study's design that the file does not state, as they were measured in
/// another study. Returns a note for the plan.
std::string use_measured_costs(study::Study& study, const std::filesystem::path& measured_in) {
  const study::MeasuredCosts costs =
      study::measured_costs(study::read_journal(study::open_directory(measured_in)).records);
  if (!costs.run_s) {
    throw study::StudyError(fmt::format(
        "{}: no run has completed, so the costs of runs are unknown", measured_in.string()));
  }
  doe::DesignOptions& design = study.design.options;
  std::vector<std::string> used;
  if (!design.run_cost_s) {
    design.run_cost_s = costs.run_s;
    used.push_back(fmt::format("run_cost {:.3g} s, the mean of {}", *costs.run_s,
                               analysis::count_of(costs.runs, "run")));
  }
  if (!design.change_cost_s && costs.set_up_s && study::has_hard_to_change(study)) {
    design.change_cost_s = costs.set_up_s;
    used.push_back(fmt::format("change_cost {:.3g} s, the mean of {}", *costs.set_up_s,
                               analysis::count_of(costs.set_ups, "server")));
  }
  if (used.empty()) return "";
  return fmt::format("as measured in {}: {}", measured_in.string(), fmt::join(used, "; "));
}

}  // namespace

json::Schema plan_schema() { return planned_format().schema; }

void describe_plan(Options& options) {
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("DIR"),
                "the study directory to create (default: the study file's name)")(
      "force", "replace a plan that has no runs yet")(
      "costs-of", boost::program_options::value<std::string>()->value_name("DIR"),
      "take design.run_cost and change_cost, unless the file states them, from this study")(
      "elsewhere", "the runs are executed on other machines: do not look for their programs here");
  options.add_positional("STUDY.yaml", 1);
}

int command_plan(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::filesystem::path file = options.required("STUDY.yaml");
  study::Study study = study::load_study(file);
  std::string costs;
  if (options.has("costs-of")) costs = use_measured_costs(study, options.text("costs-of", ""));
  const std::filesystem::path path = options.text("output", file.stem().string());
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const Programs programs = options.has("elsewhere") ? Programs::kElsewhere : Programs::kHere;
  // Before the search for a design, which may take long.
  check_program({path, study, one_run(study), "", folder}, programs);
  study::Plan plan = study::make_plan(study);
  if (!costs.empty()) plan.notes.push_back(costs);
  check_program({path, study, plan, "", folder}, programs);
  const study::StudyDirectory directory =
      study::create_directory(path, study, plan, options.has("force"));
  if (options.json()) {
    fmt::print("{}", planned_format(directory.plan_hash).text(directory));
  } else {
    print_plan(directory);
  }
  say_next(fmt::format("doetune run {}", study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
