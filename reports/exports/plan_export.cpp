#include "reports/exports/plan_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "study/argument_template.h"

namespace doetune::reports {
namespace {

using Json = nlohmann::ordered_json;
using study::PlannedRun;
using study::Study;
using study::StudyDirectory;

bool is_factor(const Study& study, const std::string& name) {
  const std::vector<std::string> names = study.factor_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The factors of the server: those of run.set_up, else those that are hard to change.
std::set<std::string> server_factors(const Study& study) {
  std::set<std::string> factors;
  for (const std::string& name : study::names_in(study.run.server.set_up)) {
    if (is_factor(study, name)) factors.insert(name);
  }
  if (!study.run.server.set_up.empty()) return factors;
  for (const doe::Factor& factor : study.factors) {
    if (factor.hard_to_change) factors.insert(factor.name);
  }
  return factors;
}

void check_can_be_executed(const Study& study) {
  if (!study.search) return;
  throw study::StudyError(
      fmt::format("{}: the runs search for the largest {}, which the other tool does not: make it "
                  "a factor with a range (without search) in a copy of the study file",
                  study.location("factors." + study.search->load.name), study.search->load.name));
}

/// Runs that have the same server, in the order of the plan.
std::vector<std::vector<PlannedRun>> plots_of(const StudyDirectory& directory) {
  std::vector<std::vector<PlannedRun>> plots;
  const bool one_server = server_factors(directory.study).empty();
  for (const PlannedRun& run : directory.plan.runs) {
    const bool same =
        !plots.empty() &&
        (one_server || (run.whole_plot != 0 && run.whole_plot == plots.back().front().whole_plot));
    if (!same) plots.emplace_back();
    plots.back().push_back(run);
  }
  return plots;
}

Json setting_of(const doe::Factor& factor, const PlannedRun& run, std::size_t index) {
  const std::string text = factor.format(run.settings[index]);
  return factor.is_categorical() ? Json(text) : Json::parse(text);
}

std::string their_name(const TheirNames& names, const std::string& ours) {
  const auto found = names.find(ours);
  return found == names.end() ? ours : found->second;
}

/// The settings of the factors that belong to the server, or of the others.
void add_settings(const Study& study, const PlannedRun& run, bool of_server,
                  const TheirNames& names, Json& record) {
  const std::set<std::string> server = server_factors(study);
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    const doe::Factor& factor = study.factors[i];
    if (server.contains(factor.name) == of_server)
      record[their_name(names, factor.name)] = setting_of(factor, run, i);
  }
}

// `doetune import` finds the numbers of runs by these names.
std::string run_name(const PlannedRun& run) { return fmt::format("run-{:04}", run.run); }
std::string server_name(const std::vector<PlannedRun>& plot) {
  return fmt::format("runs-{:04}-{:04}", plot.front().run, plot.back().run);
}
std::string plot_name(std::size_t plot) { return fmt::format("plot-{:04}", plot + 1); }

/// The value of a placeholder in a run: a factor's setting or a fixed setting.
std::string value_in(const Study& study, const PlannedRun& run, const std::string& name) {
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    if (study.factors[i].name == name) return study.factors[i].format(run.settings[i]);
  }
  for (const study::Setting& setting : study.settings) {
    if (setting.name == name) return setting.text;
  }
  return "{" + name + "}";
}

bool begins_option(const std::string& argument) { return argument.starts_with("--"); }

/// The options of vLLM's command that hold factors, as the members of a sweep's record: "--name"
/// and its value, or a factor whose levels are options themselves, --enable-x and --no-enable-x.
Json server_record(const Study& study, const PlannedRun& run) {
  const std::vector<std::string>& command = study.run.server.set_up;
  Json record = Json::object();
  for (std::size_t i = 1; i < command.size(); ++i) {
    const auto names = study::names_in({command[i]});
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_factor(study, name); }))
      continue;
    const std::string value = study::fill_template(
        command[i], [&](const std::string& name) { return value_in(study, run, name); });
    constexpr std::string_view kNo = "--no-";
    if (value.starts_with(kNo)) {
      record[value.substr(kNo.size())] = false;
    } else if (begins_option(value)) {
      record[value.substr(2)] = true;
    } else if (begins_option(command[i - 1])) {
      record[command[i - 1].substr(2)] = value;
    } else {
      throw study::StudyError(fmt::format("{}: '{}' follows no option, so a sweep cannot set it",
                                          study.location(fmt::format("run.set_up.{}", i)),
                                          command[i]));
    }
  }
  return record;
}

/// The rest of vLLM's command: without factors, and without the address, which the sweep chooses.
std::string serve_command(const Study& study, const PlannedRun& run) {
  std::vector<std::string> words;
  for (const std::string& argument : study.run.server.set_up) {
    const auto names = study::names_in({argument});
    const std::string value = study::fill_template(
        argument, [&](const std::string& name) { return value_in(study, run, name); });
    const bool left_out = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == "host" || name == "port" || is_factor(study, name);
    });
    if (!left_out) {
      words.push_back(study::shell_quoted(value));
    } else if (!begins_option(value) && begins_option(words.back())) {
      words.pop_back();
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string text_of(const Json& json) { return json.dump(2) + "\n"; }

}  // namespace

std::vector<ExportedFile> export_vllm_sweep(const StudyDirectory& directory,
                                            const TheirNames& names) {
  const Study& study = directory.study;
  check_can_be_executed(study);
  if (study.run.server.set_up.empty()) {
    throw study::StudyError(fmt::format(
        "{}: a sweep starts the server: it needs run.set_up, such as [vllm, serve, MODEL, "
        "--max-num-seqs, \"{{max_num_seqs}}\"]",
        study.file.string()));
  }
  Json servers = Json::array(), runs = Json::array();
  const auto plots = plots_of(directory);
  for (std::size_t plot = 0; plot < plots.size(); ++plot) {
    Json server{{"_benchmark_name", server_name(plots[plot])}, {"seed", plot + 1}};
    server.update(server_record(study, plots[plot].front()));
    servers.push_back(std::move(server));
    for (const PlannedRun& run : plots[plot]) {
      Json& record =
          runs.emplace_back(Json{{"_benchmark_name", run_name(run)}, {"seed", plot + 1}});
      add_settings(study, run, false, names, record);
    }
  }
  const PlannedRun& first = directory.plan.runs.front();
  const std::string model = value_in(study, first, "model");
  const std::string command = fmt::format(
      "#!/bin/sh\n# Executes the plan of {} by vLLM's own sweep. Complete the benchmark's command: "
      "what "
      "is sent, and how much.\nexec vllm bench sweep serve --serve-cmd {} \\\n  --bench-cmd {} \\\n"
      "  --serve-params serve-params.json --bench-params bench-params.json --link-vars seed=seed "
      "\\\n"
      "  --num-runs 1 --continue-on-error --output-dir results \"$@\"\n",
      study.name, study::shell_quoted(serve_command(study, first)),
      study::shell_quoted(fmt::format("vllm bench serve{} --dataset-name random",
                                      model.starts_with('{') ? "" : " --model " + model)));
  return {{"serve-params.json", text_of(servers)},
          {"bench-params.json", text_of(runs)},
          {"sweep.sh", command}};
}

std::vector<ExportedFile> export_llm_d(const StudyDirectory& directory, const TheirNames& names) {
  const Study& study = directory.study;
  check_can_be_executed(study);
  std::vector<ExportedFile> files;
  const auto plots = plots_of(directory);
  for (std::size_t plot = 0; plot < plots.size(); ++plot) {
    Json setup{{"name", plot_name(plot)}};
    add_settings(study, plots[plot].front(), true, names, setup);
    Json treatments = Json::array();
    for (const PlannedRun& run : plots[plot]) {
      Json& treatment = treatments.emplace_back(Json{{"name", run_name(run)}});
      add_settings(study, run, false, names, treatment);
    }
    Json experiment{{"experiment", {{"name", fmt::format("{}-{}", study.name, plot_name(plot))}}}};
    if (setup.size() > 1) experiment["setup"] = {{"treatments", Json::array({setup})}};
    experiment["treatments"] = std::move(treatments);
    // JSON is YAML: quoted texts and numbers need no care for YAML's words and dates.
    files.push_back({plot_name(plot) + ".yaml", text_of(experiment)});
  }
  return files;
}

}  // namespace doetune::reports
