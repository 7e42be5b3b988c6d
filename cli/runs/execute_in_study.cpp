#include "cli/runs/execute_in_study.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/options/study_argument.h"
#include "cli/runs/program_check.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"

namespace doetune::cli {

int conclude_interrupted(const study::StudyDirectory& directory, std::string_view command) {
  const std::string again =
      fmt::format("doetune {} {}", command, study::shell_quoted(directory.path.string()));
  std::error_code ignored;
  say_next(
      std::filesystem::exists(directory.stop_file(), ignored)
          ? fmt::format("rm {} && {}", study::shell_quoted(directory.stop_file().string()), again)
          : again + " (continues where it stopped)");
  return kInterrupted;
}

int execute_in_study(const Options& options,
                     int (*execute)(const Options& options, study::StudyDirectory& directory)) {
  study::StudyDirectory directory = open_for_runs(options);
  try {
    return execute(options, directory);
  } catch (const runner::RunError& error) {
    report_with_location(directory.study, error);
  }
}

}  // namespace doetune::cli
