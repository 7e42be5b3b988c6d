// The table of subcommands: a new one is a source file and a line here.
#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/command_list.h"

namespace doetune::cli {
namespace {

constexpr std::array kCommands{
    Command{"init", "[FILE]", "write a commented study file to start from",
            "doetune init study.yaml", command_init},
    Command{"plan", "STUDY.yaml", "choose the runs and make the study directory",
            "doetune plan fccd.yaml", command_plan},
    Command{"evaluate", "PATH", "judge a design before running it, or compare two",
            "doetune evaluate fccd.yaml --compare other.csv", command_evaluate},
    Command{"run", "[DIR]", "execute the runs that are missing; always resumes", "doetune run fccd",
            command_run},
    Command{"status", "[DIR]", "what is done, what is missing, the time left",
            "doetune status fccd", command_status},
    Command{"import", "STUDY.yaml DATA.csv", "take runs made elsewhere from a table",
            "doetune import study.yaml results.csv", command_import},
    Command{"augment", "[DIR] --runs N", "add the runs that help most to those there are",
            "doetune augment fccd --runs 6", command_augment},
    Command{"fit", "[DIR]", "fit the response surfaces, with analysis of variance",
            "doetune fit fccd", command_fit},
    Command{"optimize", "[DIR]", "find the settings that meet the goals",
            "doetune optimize fccd --goal \"throughput=within:1800,2500\"", command_optimize},
    Command{"confirm", "[DIR]", "run the optimum and today's settings again, judge the prediction",
            "doetune confirm fccd -n 5", command_confirm},
    Command{"report", "[DIR]", "write report.html and its figures", "doetune report fccd",
            command_report},
    Command{"doctor", "", "show this machine, and what is missing or in doubt for measuring",
            "doetune doctor", command_doctor},
    Command{"designs", "", "list the design types", "doetune designs", command_designs},
    Command{"workloads", "", "list the bundled workloads", "doetune workloads", command_workloads},
    Command{"workload", "NAME [--FACTOR VALUE ...]", "run one bundled workload by hand",
            "doetune workload stream-inference --batch_size 8", command_workload},
    Command{"schema", "", "print the JSON Schema of the study file, for editors",
            "doetune schema > study.schema.json", command_schema},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace doetune::cli
