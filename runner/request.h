// What an attempt's program is told: request.json, its arguments, its environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempt.h"
#include "study/directory.h"
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

/// {"study","plan","run","attempt","replicate","seed","factors":{name: value},"settings":{name:
/// value}, "gpus":[...],"cpus":[...],"time_limit_s","warmup_s","repeats"}; whole numbers without a
/// point. "plan" is the plan's hash.
std::string request_text(const study::StudyDirectory& directory, const study::PlannedRun& run,
                         int attempt, const Slot& slot);

/// Hash of the plan that an attempt was made for; empty where its request does not say.
std::optional<std::string> requested_plan(const std::filesystem::path& attempt_directory);

/// Fills the placeholders of the study's command: {factor}, {setting}, and {run}, {attempt},
/// {seed}, {request}, {result}; {{ and }} are literal braces.
/// Throws RunError for an unknown placeholder, with the nearest valid name.
std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory);

/// The variables of an attempt: DOETUNE_REQUEST, DOETUNE_RESULT, CUDA_VISIBLE_DEVICES where GPUs
/// are assigned, and the study's own.
std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot);

}  // namespace doetune::runner
