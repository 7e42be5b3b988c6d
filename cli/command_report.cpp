#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/print_verdict.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/verdict.h"
#include "reports/write_report.h"

namespace doetune::cli {

void describe_report(Options& options) {
  add_fit_options(options);
  add_goal_options(options);
  add_directory(options);
}

int command_report(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  const reports::Analysis analysis =
      reports::analyse(directory, analysis_options(options, directory.study));
  if (!asks_otherwise(options)) {
    study::write_file_atomically(directory.path / "fit.json", reports::fit_json(analysis));
    study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  }
  const std::vector<std::filesystem::path> files = reports::write_report(analysis);
  const reports::Verdict verdict = reports::verdict(analysis);
  if (options.json()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const std::filesystem::path& file : files) list.push_back(file.string());
    fmt::print("{}\n", nlohmann::ordered_json{{"schema_version", 1},
                                              {"status", reports::status_name(verdict.status)},
                                              {"headline", verdict.headline},
                                              {"caveats", verdict.caveats},
                                              {"files", list}}
                           .dump(2));
  } else {
    print_verdict(verdict);
    fmt::print("{} written, with {} figures\n", files.front().string(), files.size() - 1);
  }
  const bool confirm = verdict.status == reports::Status::kUnconfirmed &&
                       !asks_otherwise(options) && !verdict.next_command.empty();
  say_next(confirm ? verdict.next_command : fmt::format("open {}", files.front().string()));
  if (analysis.completed() == 0) return kRunsMissing;
  return verdict.status == reports::Status::kInfeasible ? kNoSettingsMeetGoals : kDone;
}

}  // namespace doetune::cli
