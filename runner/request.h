// What an attempt's program is told: request.json, its arguments, its environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/attempt.h"
#include "study/plan.h"
#include "study/study.h"

namespace doetune::runner {

/// The part of the machine that one of the runs at once has to itself.
struct Slot {
  std::vector<std::string> gpus;  ///< as CUDA_VISIBLE_DEVICES names them
  std::vector<int> cpus;          ///< its program is bound to them
};

/// The seed of a run: the same for each of its attempts, on any machine. Below 2^53, so that every
/// JSON reader keeps it exactly.
std::uint64_t run_seed(std::uint64_t study_seed, int run);

/// {"study","run","attempt","replicate","seed","factors":{name: value},"settings":{name: value},
/// "gpus":[...],"cpus":[...],"time_limit_s","warmup_s","repeats"}; whole numbers without a point.
std::string request_text(const study::Study& study, const study::PlannedRun& run, int attempt,
                         const Slot& slot);

/// Fills the placeholders of the study's command: {factor}, {setting}, and {run}, {attempt},
/// {seed}, {request}, {result}; {{ and }} are literal braces.
/// Throws RunError for an unknown placeholder, with the nearest valid name.
std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory);

/// The program that a command's first word means: a path with a slash is taken from the working
/// directory, any other is searched in `search_path` (colon separated).
/// Throws RunError saying where it was looked for.
std::filesystem::path find_program(const std::string& name,
                                   const std::filesystem::path& working_directory,
                                   const std::string& search_path);

/// The variables of an attempt: DOETUNE_REQUEST, DOETUNE_RESULT, CUDA_VISIBLE_DEVICES where GPUs
/// are assigned, and the study's own.
std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot);

}  // namespace doetune::runner
