#include <fmt/format.h>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/directory/tell.h"
#include "study/file/yaml.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

struct Told {
  std::filesystem::path directory;
  int run;
  std::string status;
  bool recorded;  ///< false if the same was recorded before
};

json::Format<Told> told_format() {
  return json::document<Told>({{"directory", &Told::directory},
                               {"run", &Told::run},
                               {"status", &Told::status},
                               {"recorded", &Told::recorded}});
}

/// The only run that has not been recorded; 0 if there are none or several.
int only_pending_run(const study::StudyDirectory& directory) {
  const auto records = study::final_records(study::read_journal(directory).records);
  int pending = 0;
  for (const study::PlannedRun& run : directory.plan.runs) {
    if (records.contains(run.run)) continue;
    if (pending > 0) return 0;
    pending = run.run;
  }
  return pending;
}

std::map<std::string, double> responses_of(const std::vector<std::string>& words) {
  std::map<std::string, double> responses;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    const auto value =
        equals == std::string::npos ? std::nullopt : study::parse_number(word.substr(equals + 1));
    if (!value) {
      throw UsageError(fmt::format(
          "doetune tell: expected RESPONSE=VALUE, such as latency=12.5, found '{}'", word));
    }
    responses[word.substr(0, equals)] = *value;
  }
  return responses;
}

study::ToldRun told_run(const Options& options, const study::StudyDirectory& directory,
                        const std::vector<std::string>& words) {
  study::ToldRun told;
  told.run = options.integer("run", only_pending_run(directory));
  if (told.run == 0) throw UsageError("doetune tell: which run? give --run N");
  told.responses = responses_of(words);
  const bool infeasible = options.has("infeasible"), failed = options.has("failed");
  if (infeasible && failed)
    throw UsageError("doetune tell: give --infeasible or --failed, not both");
  if (!infeasible && !failed) return told;
  if (!told.responses.empty()) {
    throw UsageError("doetune tell: a run that did not complete has no responses");
  }
  told.status = infeasible ? study::RunStatus::kInfeasible : study::RunStatus::kFailed;
  told.reason = infeasible ? "reported by the user as infeasible" : options.text("failed");
  return told;
}

}  // namespace

json::Schema tell_schema() { return told_format().schema; }

void describe_tell(Options& options) {
  options.add()("run", po::value<int>()->value_name("N"),
                "the run's number (if only one is missing: that one)")(
      "infeasible", "the configuration cannot run, for lack of memory for example")(
      "failed", po::value<std::string>()->value_name("REASON"), "the run failed, and why");
  options.add_positional("WORDS", -1);
}

int command_tell(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  std::vector<std::string> words = options.list("WORDS");
  if (words.empty()) {
    throw UsageError(
        "doetune tell: needs the study directory: doetune tell DIR RESPONSE=VALUE ...");
  }
  const study::StudyDirectory directory = study::open_directory(words.front());
  words.erase(words.begin());
  const study::ToldRun told = told_run(options, directory, words);
  const bool recorded = study::tell_run(directory, told);
  const std::string status(study::run_status_name(told.status));
  if (options.json()) {
    fmt::print("{}", told_format().text({directory.path, told.run, status, recorded}));
  } else {
    fmt::print("run {} {}: {}\n", told.run, recorded ? "recorded" : "was recorded before", status);
  }
  say_next(fmt::format("doetune next {}", study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
