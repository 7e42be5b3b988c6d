// The input of an attempt's program: request.json, arguments and environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/attempt.h"
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
/// decimal point. "plan" is the plan's hash.
std::string request_text(const study::StudyDirectory& directory, const study::PlannedRun& run,
                         int attempt, const Slot& slot);

/// Whether the directory was made for this attempt at this run of the plan: it may have been
/// replaced by a copy of another one, or be left from another plan.
bool is_request_of(const std::filesystem::path& attempt_directory,
                   const study::StudyDirectory& directory, const study::PlannedRun& run,
                   int attempt);

/// Fills the placeholders of the study's command: {factor}, {setting}, and {run}, {attempt},
/// {seed}, {request}, {result}; {{ and }} are literal braces.
/// Throws RunError for an unknown placeholder, with the most similar valid name.
std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory);

/// The value of a count in one run: fixed, or the setting of the factor that it names. Throws
/// RunError if the setting is not a nonnegative integer.
int count_in(const study::Count& count, const study::Study& study, const study::PlannedRun& run);

/// The environment of an attempt: DOETUNE_REQUEST, DOETUNE_RESULT, the study's own variables, and
/// CUDA_VISIBLE_DEVICES if doetune, not a scheduler, assigns the GPUs.
std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot);

}  // namespace doetune::runner
