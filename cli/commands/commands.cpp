// The table of subcommands. To add one, write a source file and a line here.
#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/commands/commands.h"

namespace doetune::cli {
namespace {

constexpr std::array kCommands{
    Command{"init", "[FILE]", "write a commented study file to start from",
            "doetune init study.yaml\ndoetune init --template own-inference server.yaml\n"
            "doetune init --demo\ndoetune init - | less",
            command_init, describe_init},
    Command{"check", "[PATH]", "make one run, to check that a study can be executed",
            "doetune check study.yaml\ndoetune check study", command_check, describe_check},
    Command{"plan", "STUDY.yaml", "choose the runs and create the study directory",
            "doetune plan fccd.yaml\ndoetune plan fccd.yaml -o trial-2", command_plan,
            describe_plan},
    Command{"evaluate", "PATH", "evaluate a design before running it, or compare two",
            "doetune evaluate fccd.yaml\ndoetune evaluate fccd.yaml --compare other.csv",
            command_evaluate, describe_evaluate},
    Command{
        "run", "[DIR]", "execute the runs that are missing (always resumes)",
        "doetune run fccd\ndoetune run fccd --dry-run\ndoetune run fccd --jobs 4 --retry failed",
        command_run, describe_run},
    Command{"status", "[DIR]", "show what is done, what is missing, and the time left",
            "doetune status fccd\ndoetune status fccd --watch", command_status, describe_status},
    Command{"restore", "[DIR]", "write a study's lost or damaged files again from its journal",
            "doetune restore fccd", command_restore, describe_restore},
    Command{"import", "STUDY.yaml RESULTS...",
            "import runs made elsewhere: a table, or results of other tools",
            "doetune import study.yaml results.csv\ndoetune import study.yaml trials.db --column "
            "accuracy=value",
            command_import, describe_import},
    Command{"tune", "PATH", "find the best settings by Bayesian optimisation and confirm them",
            "doetune tune study.yaml --budget 40\ndoetune tune study --budget 60", command_tune,
            describe_tune},
    Command{"next", "PATH", "print what to run next, if you execute the runs yourself",
            "doetune next study.yaml\ndoetune next study --batch 4 --json", command_next,
            describe_next},
    Command{"tell", "DIR RESPONSE=VALUE ...", "record a run that you made yourself",
            "doetune tell study --run 7 throughput=1840 latency=0.02\n"
            "doetune tell study --run 8 --infeasible",
            command_tell, describe_tell},
    Command{"augment", "[DIR] --runs N", "add the runs that improve the study most",
            "doetune augment fccd --runs 6\ndoetune augment fccd --axial --dry-run",
            command_augment, describe_augment},
    Command{"fit", "[DIR]", "fit the response surfaces, with analysis of variance",
            "doetune fit fccd\ndoetune fit fccd --model interactions --transform log", command_fit,
            describe_fit},
    Command{"optimize", "[DIR]", "find the settings that meet the goals best",
            "doetune optimize fccd\ndoetune optimize fccd --goal "
            "\"throughput=within:1800,2500\"\ndoetune optimize fccd --hold batch_size=8",
            command_optimize, describe_optimize},
    Command{"confirm", "[DIR]", "validate the optimum by new runs, compared with the baseline",
            "doetune confirm fccd -n 5", command_confirm, describe_confirm},
    Command{"report", "[DIR]", "write report.html and its figures",
            "doetune report fccd\ndoetune report fccd --format html,md,pdf --open", command_report,
            describe_report},
    Command{"export", "[DIR] --to FORMAT",
            "write the runs as a table, or as a script that fits them",
            "doetune export fccd --to csv\ndoetune export fccd --to r -o fccd.R", command_export,
            describe_export},
    Command{"replay", "STUDY.yaml TABLE.csv",
            "compare search strategies on a table of all configurations",
            "doetune replay study.yaml measured.csv --noise 0.03", command_replay, describe_replay},
    Command{"doctor", "", "show this machine and any problems for measuring", "doetune doctor",
            command_doctor},
    Command{"designs", "", "list the design types", "doetune designs", command_designs},
    Command{"workloads", "", "list the bundled workloads", "doetune workloads", command_workloads},
    Command{"workload", "NAME [--FACTOR VALUE ...]", "run one bundled workload by hand",
            "doetune workload stream-inference --batch_size 8", command_workload,
            describe_workload},
    Command{"completion", "SHELL", "print a shell completion script",
            "source <(doetune completion bash)\ndoetune completion fish | source",
            command_completion, describe_completion},
    Command{"man", "[PAGE]", "print a manual page", "doetune man plan | man -l -", command_man,
            describe_man},
    Command{"schema", "", "print the JSON Schema of the study file, or of --json",
            "doetune schema > study.schema.json\ndoetune schema --of status", command_schema,
            describe_schema},
};

constexpr std::array kExitMeanings{
    ExitMeaning{kDone, "done"},
    ExitMeaning{kInternalError, "an internal error, or output that could not be written"},
    ExitMeaning{kUsage, "the command line is invalid"},
    ExitMeaning{kStudyFile, "the study file, or a file of results, is invalid"},
    ExitMeaning{kStudyDirectory, "the study directory is invalid or in use"},
    ExitMeaning{kRunsMissing, "runs are missing, failed, or too few to conclude"},
    ExitMeaning{kNoSettingsMeetGoals, "no settings meet the goals"},
    ExitMeaning{kNotConfirmed, "runs at the optimum do not confirm the prediction"},
    ExitMeaning{kInterrupted, "interrupted"},
};

}  // namespace

std::span<const ExitMeaning> exit_meanings() { return kExitMeanings; }

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace doetune::cli
