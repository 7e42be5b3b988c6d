#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/program_check.h"
#include "cli/terminal.h"
#include "reports/format.h"
#include "study/directory.h"
#include "study/plan_json.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kMostRowsShown = 40;

void print_runs(const study::Study& study, const study::Plan& plan) {
  std::vector<std::string> header{"run", "point"};
  for (const doe::Factor& factor : study.factors) {
    header.push_back(factor.unit.empty() ? factor.name : factor.name + " [" + factor.unit + "]");
  }
  TextTable table(header);
  for (std::size_t i = 0; i < std::min(plan.runs.size(), kMostRowsShown); ++i) {
    const study::PlannedRun& run = plan.runs[i];
    std::vector<std::string> cells{std::to_string(run.run),
                                   std::string(doe::point_type_name(run.type))};
    for (std::size_t f = 0; f < study.factors.size(); ++f) {
      cells.push_back(study.factors[f].format(run.settings[f]));
    }
    table.add(cells);
  }
  fmt::print("{}", table.str());
  if (plan.runs.size() > kMostRowsShown) {
    fmt::print("  ... {} more in plan.csv\n", plan.runs.size() - kMostRowsShown);
  }
}

std::string expected_time(const study::Study& study, std::size_t runs) {
  const double waves = static_cast<double>((runs + study.run.jobs - 1) / study.run.jobs);
  if (study.run.expected_s) {
    return fmt::format("about {}", duration_text(waves * *study.run.expected_s));
  }
  return fmt::format("unknown before the first run; at most {} by the time limit of {} a run",
                     duration_text(waves * study.run.timeout_s),
                     duration_text(study.run.timeout_s));
}

void print_search(const doe::SearchReport& search) {
  fmt::print("search: {} {:.5g} in {}, found {}, {:.1f} s{}\n", search.criterion, search.best,
             reports::count_of(search.starts, "start"),
             search.best_found == 1 ? "once" : fmt::format("{} times", search.best_found),
             search.seconds, search.stopped_by_time ? "; the time limit ended it" : "");
  if (!search.bound) return;
  fmt::print("        no design of any size can be better than {:.5g}\n", *search.bound);
}

void print_plan(const study::StudyDirectory& directory) {
  const study::Study& study = directory.study;
  const doe::Evaluation& evaluation = directory.plan.evaluation;
  print_runs(study, directory.plan);
  fmt::print("\n{} with {} for {} model terms ({}){}\n", study.design.type,
             reports::count_of(evaluation.runs, "run"), evaluation.terms, study.model_name,
             evaluation.d_efficiency
                 ? fmt::format(", D-efficiency {:.1f} %", *evaluation.d_efficiency)
                 : "");
  if (directory.plan.search) print_search(*directory.plan.search);
  fmt::print("expected time: {}\n", expected_time(study, directory.plan.runs.size()));
  for (const std::string& note : directory.plan.notes) fmt::print("note: {}\n", note);
}

void print_json(const study::StudyDirectory& directory) {
  nlohmann::ordered_json json{{"schema_version", 1}, {"directory", directory.path.string()}};
  json.update(nlohmann::ordered_json::parse(study::plan_json(directory)));
  json["expected_time_s"] = nullptr;
  if (directory.study.run.expected_s) {
    json["expected_time_s"] = *directory.study.run.expected_s *
                              static_cast<double>(directory.plan.runs.size()) /
                              directory.study.run.jobs;
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

int command_plan(const Command& command, const Arguments& arguments) {
  Options options(command);
  options.add()("output,o", boost::program_options::value<std::string>(),
                "the study directory to make (default: the study file's name)")(
      "force", "replace a plan that has no runs yet");
  options.add_positional("STUDY.yaml", 1);
  if (!options.parse(arguments)) return kDone;
  const std::filesystem::path file = options.required("STUDY.yaml");
  const study::Study study = study::load_study(file);
  const std::filesystem::path path = options.text("output", file.stem().string());
  const study::Plan plan = study::make_plan(study);
  check_program({path, study, plan, "", std::filesystem::absolute(file).parent_path()});
  const study::StudyDirectory directory =
      study::create_directory(path, study, plan, options.has("force"));
  if (options.json()) {
    print_json(directory);
  } else {
    print_plan(directory);
  }
  say_next(fmt::format("doetune run {}", directory.path.string()));
  return kDone;
}

}  // namespace doetune::cli
