#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"
#include "study/directory/tell.h"
#include "study/file/yaml.h"
#include "tuning/search.h"
#include "tuning/study_search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

constexpr const char* kGoesOn = "running";

struct Told {
  std::filesystem::path directory;
  int run;
  std::string status;  ///< of a run, or kGoesOn
  bool recorded;       ///< false if the same was recorded before, or the run goes on
  std::string reason;  ///< why it is ended early
};

json::Format<Told> told_format() {
  return json::document<Told>({{"directory", &Told::directory},
                               {"run", &Told::run},
                               {"status", &Told::status},
                               {"recorded", &Told::recorded},
                               {"reason?", &Told::reason}});
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

/// After the last run that confirms, what it shows; after that of a designed experiment, its
/// report.
const char* next_command(const study::StudyDirectory& directory, int run) {
  if (!tuning::pending_runs(directory, 1).empty()) return "next";
  if (directory.plan.runs[static_cast<std::size_t>(run - 1)].validates()) return "confirm";
  return study::read_search_state(directory.path) == study::SearchState() ? "report" : "next";
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
    if (!responses.emplace(word.substr(0, equals), *value).second) {
      throw UsageError(fmt::format("doetune tell: '{}' is given twice", word.substr(0, equals)));
    }
  }
  return responses;
}

study::ToldRun told_run(const Options& options, int run, const std::vector<std::string>& words) {
  study::ToldRun told;
  told.run = run;
  told.responses = responses_of(words);
  told.corrects = options.has("correct");
  const bool infeasible = options.has("infeasible"), failed = options.has("failed");
  if (infeasible && failed)
    throw UsageError("doetune tell: give --infeasible or --failed, not both");
  if (options.has("reason") && !infeasible)
    throw UsageError("doetune tell: --reason is for --infeasible; a failed run: --failed REASON");
  if (!infeasible && !failed) return told;
  if (!told.responses.empty()) {
    throw UsageError("doetune tell: a run that did not complete has no responses");
  }
  told.status = infeasible ? study::RunStatus::kInfeasible : study::RunStatus::kFailed;
  told.reason = options.text(infeasible ? "reason" : "failed");
  if (infeasible && told.reason.empty()) told.reason = "reported by the user as infeasible";
  return told;
}

Told tell_end(const Options& options, const study::StudyDirectory& directory, int run,
              const std::vector<std::string>& words) {
  const study::ToldRun told = told_run(options, run, words);
  const bool recorded = study::tell_run(directory, told);
  return {directory.path, run, std::string(study::run_status_name(told.status)), recorded, ""};
}

/// Without those whose value is infinite or not a number: a run that diverges reports nothing.
std::vector<std::string> finite(std::vector<std::string> words) {
  std::erase_if(words, [](const std::string& word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals + 1 == word.size()) return false;
    char* end = nullptr;
    const double number = std::strtod(word.c_str() + equals + 1, &end);
    return *end == '\0' && !std::isfinite(number);
  });
  return words;
}

/// What a run that is under way reports, and whether it is ended early.
Told tell_step(const Options& options, const study::StudyDirectory& directory, int run,
               const std::vector<std::string>& words) {
  for (const char* option : {"infeasible", "reason", "failed", "correct"})
    if (options.has(option))
      throw UsageError(
          fmt::format("doetune tell: --step is for a run in progress: no --{}", option));
  const std::string step = options.text("step");
  const auto number = study::parse_number(step);
  if (!number)
    throw UsageError(fmt::format("--step: expected a number, such as 3, found '{}'", step));
  if (words.empty())
    throw UsageError("doetune tell: --step needs what is reported: RESPONSE=VALUE ...");
  const auto told = tuning::tell_progress(directory, run, {*number, responses_of(finite(words))});
  if (!told) return {directory.path, run, kGoesOn, false, ""};
  return {directory.path, run, std::string(study::run_status_name(study::RunStatus::kEndedEarly)),
          told->recorded_now, told->end.reason};
}

void print(const Told& told) {
  if (told.status == kGoesOn) {
    fmt::print("run {} goes on\n", told.run);
  } else if (!told.reason.empty()) {
    fmt::print("run {} can be stopped: {}: {}\n", told.run, told.status, told.reason);
  } else {
    fmt::print("run {} {}: {}\n", told.run, told.recorded ? "recorded" : "was recorded before",
               told.status);
  }
}

}  // namespace

json::Schema tell_schema() { return told_format().schema; }

void describe_tell(Options& options) {
  options.add()("run", po::value<int>()->value_name("N"),
                "the run's number (if only one is missing: that one)")(
      "infeasible", "the configuration cannot run, for lack of memory for example")(
      "reason", po::value<std::string>()->value_name("REASON"), "with --infeasible: why")(
      "failed", po::value<std::string>()->value_name("REASON"), "the run failed, and why")(
      "correct", "replaces a result that was recorded by mistake; the journal keeps both")(
      "step", po::value<std::string>()->value_name("STEP"),
      "the values are of step STEP of a run in progress; says whether run.end_early ends it");
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
  const std::filesystem::path path = words.front();
  words.erase(words.begin());
  study::StudyDirectory directory;
  const Told told = study::when_free([&] {
    directory = study::open_directory(path);
    const int run = options.has("run") ? options.integer("run", 0) : only_pending_run(directory);
    if (run == 0 && !options.has("run")) throw UsageError("doetune tell: which run? give --run N");
    return options.has("step") ? tell_step(options, directory, run, words)
                               : tell_end(options, directory, run, words);
  });
  if (options.json()) {
    fmt::print("{}", told_format().text(told));
  } else {
    print(told);
  }
  if (told.status != kGoesOn)
    say_next(fmt::format("doetune {} {}", next_command(directory, told.run),
                         study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
