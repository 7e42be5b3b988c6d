#include <fmt/format.h>

#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/import.h"

namespace doetune::cli {
namespace {

json::Format<study::StudyDirectory> imported_format() {
  using study::StudyDirectory;
  return json::document<StudyDirectory>(
      {{"directory", &StudyDirectory::path},
       {"runs", [](const StudyDirectory& imported) { return imported.plan.runs.size(); }},
       {"warnings", study::range_cautions}});
}

}  // namespace

json::Schema import_schema() { return imported_format().schema; }

void describe_import(Options& options) {
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("DIR"),
                "the study directory to create (default: the study file's name)")(
      "force", "replace a plan that has no runs yet");
  options.add_positional("FILES", 2);
}

int command_import(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> files = options.list("FILES");
  if (files.size() != 2) {
    throw UsageError(
        "doetune import: needs a study file and a table: doetune import STUDY.yaml DATA.csv");
  }
  const std::filesystem::path file = files[0];
  const study::Study study = study::load_study(file);
  const study::StudyDirectory directory = study::import_runs(
      study, files[1], options.text("output", file.stem().string()), options.has("force"));
  const int runs = static_cast<int>(directory.plan.runs.size());
  if (options.json()) {
    fmt::print("{}", imported_format().text(directory));
  } else {
    fmt::print("{} taken from {} into {}\n", analysis::count_of(runs, "run"), files[1],
               directory.path.string());
  }
  say_warnings(study::range_cautions(directory));
  say_next(fmt::format("doetune report {}", study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
