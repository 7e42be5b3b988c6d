// The input of an attempt's program: request.json, arguments and environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/attempts/command.h"
#include "runner/attempts/slots.h"
#include "study/directory/directory.h"
#include "study/plan.h"
#include "study/study.h"

namespace doetune::runner {

/// The seed of a run: the same for all its attempts, on any machine. Below 2^53, so that every JSON
/// parser preserves it exactly.
std::uint64_t run_seed(std::uint64_t study_seed, int run);

/// {"study","plan","run","attempt","replicate","seed","factors":{name: value},"settings":{name:
/// value}, "gpus":[...],"cpus":[...],"time_limit_s","warmup_s","repeats"}; integers without a
/// decimal point. "plan" is the plan's hash. With a server also "server": {"host","port","names"}.
std::string request_text(const study::StudyDirectory& directory, const study::PlannedRun& run,
                         int attempt, const Slot& slot);

/// Whether the directory was made for this attempt at this run of the plan: it may have been
/// replaced by a copy of another one, or be left from another plan.
bool is_request_of(const std::filesystem::path& attempt_directory,
                   const study::StudyDirectory& directory, const study::PlannedRun& run,
                   int attempt);

/// Values of placeholders, by name.
using Placeholders = std::map<std::string, std::string>;

/// The factors and settings that the command lines of the study's server name. A workload need not
/// know them.
std::vector<std::string> server_names(const study::Study& study);

/// {factor}, {setting} and, for a study with a server, {host} and {port} where `server` is known;
/// unknown ones stand for themselves.
Placeholders run_placeholders(const study::Study& study, const study::PlannedRun& run,
                              const std::optional<ServerAddress>& server);

/// Those of run_placeholders that are the same in the whole plot of the run: without factors that
/// are easy to change, if any factor is hard to change.
Placeholders plot_placeholders(const study::Study& study, const study::PlannedRun& run,
                               const std::optional<ServerAddress>& server);

/// Fills the placeholders of a command line of the study; {{ and }} are literal braces. `key` is
/// its key in the study file, as in Study::location. Throws RunError for an unknown placeholder,
/// with the most similar valid name.
std::vector<std::string> fill_arguments(const std::vector<std::string>& arguments,
                                        const std::string& key, const Placeholders& values);

/// A command line of the study as a command, run where its file is. Throws RunError like
/// fill_arguments, and for a missing program.
Command study_command(const study::StudyDirectory& directory,
                      const std::vector<std::string>& arguments, const std::string& key,
                      const Placeholders& values);

/// Fills the placeholders of the study's command: those of run_placeholders, and {run}, {attempt},
/// {seed}, {request}, {result}. A factor that is searched has the value `load`, and stands for
/// itself without one. Throws RunError like fill_arguments.
std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory,
                                      const std::optional<ServerAddress>& server = {},
                                      std::optional<double> load = {});

/// The value of a count in one run: fixed, or the setting of the factor that it names. Throws
/// RunError if the setting is not a nonnegative integer.
int count_in(const study::Count& count, const study::Study& study, const study::PlannedRun& run);

/// The environment of an attempt: DOETUNE_REQUEST, DOETUNE_RESULT, and that of program_environment.
std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot);

/// The study's own variables, DOETUNE_HOST and DOETUNE_PORT for the address of a server, and
/// CUDA_VISIBLE_DEVICES if doetune, not a scheduler, assigns the GPUs.
std::map<std::string, std::string> program_environment(const study::Study& study, const Slot& slot);

}  // namespace doetune::runner
