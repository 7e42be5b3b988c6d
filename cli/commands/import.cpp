#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "base/json_format.h"
#include "base/nearest_name.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/import.h"
#include "study/directory/patience.h"
#include "study/formats/format.h"

namespace doetune::cli {
namespace {

struct Imported {
  study::StudyDirectory directory;
  std::vector<std::string> warnings;
};

json::Format<Imported> imported_format() {
  return json::document<Imported>(
      {{"directory", [](const Imported& imported) { return imported.directory.path; }},
       {"runs", [](const Imported& imported) { return imported.directory.plan.runs.size(); }},
       {"warnings", &Imported::warnings}});
}

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (const study::ResultFormat& format : study::result_formats()) names.emplace_back(format.name);
  return names;
}

std::string summary_of_result_formats() {
  std::string text = "format of the results, if their content does not show it";
  for (const study::ResultFormat& format : study::result_formats()) {
    text += fmt::format("; {}: {}", format.name, format.summary);
  }
  return text;
}

/// Takes the columns that --column names for factors, responses and the optional columns.
void assign_columns(const std::vector<std::string>& words, const study::Study& study,
                    study::RunTable& table) {
  std::vector<std::string> ours = study.factor_names();
  for (const study::Response& response : study.responses) ours.push_back(response.name);
  ours.insert(ours.end(), {"block", "whole_plot", "point_type", "status"});
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format(
          "doetune import: --column: expected OURS=THEIRS, such as latency='p99 Latency (ms)', "
          "found '{}'",
          word));
    }
    const std::string name = word.substr(0, equals);
    if (std::find(ours.begin(), ours.end(), name) == ours.end()) {
      throw UsageError(fmt::format("doetune import: --column: the study has no '{}'{}", name,
                                   did_you_mean_or_list(name, ours)));
    }
    table.assign(name, word.substr(equals + 1));
  }
}

study::RunTable read_runs(const Options& options, const std::vector<std::string>& files) {
  study::ResultSources sources;
  sources.paths.assign(files.begin() + 1, files.end());
  sources.format = options.text("format");
  sources.study = options.text("study");
  return study::read_results(sources).table;
}

/// Results of a plan that was exported.
int import_into_plan(const Options& options, const std::vector<std::string>& files) {
  for (const char* option : {"output", "force"}) {
    if (options.has(option))
      throw UsageError(fmt::format(
          "doetune import: {} is a study directory; --{} needs a study file", files[0], option));
  }
  Imported imported{study::open_directory(files[0]), {}};
  study::RunTable table = read_runs(options, files);
  assign_columns(options.list("column"), imported.directory.study, table);
  const auto hold = study::hold_when_free(imported.directory);
  const study::ImportedResults results = study::import_planned(imported.directory, table);
  imported.warnings = std::move(table.warnings);
  imported.warnings.insert(imported.warnings.end(), results.warnings.begin(),
                           results.warnings.end());
  if (options.json()) {
    fmt::print("{}", imported_format().text(imported));
  } else {
    fmt::print("{} of {} recorded in {}\n", results.recorded,
               analysis::count_of(static_cast<int>(imported.directory.plan.runs.size()), "run"),
               imported.directory.path.string());
  }
  say_warnings(imported.warnings);
  say_next(fmt::format("doetune status {}", study::shell_quoted(files[0])));
  return kDone;
}

}  // namespace

json::Schema import_schema() { return imported_format().schema; }

void describe_import(Options& options) {
  namespace po = boost::program_options;
  options.add()("output,o", po::value<std::string>()->value_name("DIR"),
                "the study directory to create (default: the study file's name)")(
      "format", po::value<std::string>()->value_name("NAME"), summary_of_result_formats().c_str())(
      "column", po::value<std::vector<std::string>>()->value_name("OURS=THEIRS"),
      "take the column THEIRS of the results for a factor or response of the study; repeatable")(
      "study", po::value<std::string>()->value_name("NAME"),
      "the study to import, if an Optuna storage has several")(
      "force", "replace a plan that has no runs yet");
  options.choices("format", {names_of_formats()});
  options.add_positional("FILES", -1);
}

int command_import(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> files = options.list("FILES");
  if (files.size() < 2) {
    throw UsageError(
        "doetune import: needs a study file and results: doetune import STUDY.yaml RESULTS...");
  }
  const std::filesystem::path file = files[0];
  if (std::filesystem::is_directory(file)) return import_into_plan(options, files);
  const study::Study study = study::load_study(file);
  study::RunTable table = read_runs(options, files);
  assign_columns(options.list("column"), study, table);
  study::ImportedRuns runs = study::import_table(
      study, table, options.text("output", file.stem().string()), options.has("force"));
  Imported imported{std::move(runs.directory), std::move(table.warnings)};
  for (const std::vector<std::string>& more :
       {runs.warnings, study::range_cautions(imported.directory)}) {
    imported.warnings.insert(imported.warnings.end(), more.begin(), more.end());
  }
  const int count = static_cast<int>(imported.directory.plan.runs.size());
  if (options.json()) {
    fmt::print("{}", imported_format().text(imported));
  } else {
    fmt::print("{} taken from {} into {}\n", analysis::count_of(count, "run"), files[1],
               imported.directory.path.string());
  }
  say_warnings(imported.warnings);
  say_next(fmt::format("doetune report {}", study::shell_quoted(imported.directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
