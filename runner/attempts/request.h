// What an attempt's program is told: request.json, its arguments, its environment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/attempts/slots.h"
#include "study/directory.h"
#include "study/plan.h"
#include "study/study.h"

namespace doetune::runner {

/// The seed of a run: the same for each of its attempts, on any machine. Below 2^53, so that every
/// JSON reader keeps it exactly.
std::uint64_t run_seed(std::uint64_t study_seed, int run);

/// {"study","plan","run","attempt","replicate","seed","factors":{name: value},"settings":{name:
/// value}, "gpus":[...],"cpus":[...],"time_limit_s","warmup_s","repeats"}; whole numbers without a
/// point. "plan" is the plan's hash.
std::string request_text(const study::StudyDirectory& directory, const study::PlannedRun& run,
                         int attempt, const Slot& slot);

/// Whether an attempt directory was made for this attempt at this run of the plan: another one may
/// have been copied to its place, or be left from another plan.
bool is_request_of(const std::filesystem::path& attempt_directory,
                   const study::StudyDirectory& directory, const study::PlannedRun& run,
                   int attempt);

/// Fills the placeholders of the study's command: {factor}, {setting}, and {run}, {attempt},
/// {seed}, {request}, {result}; {{ and }} are literal braces.
/// Throws RunError for an unknown placeholder, with the nearest valid name.
std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory);

/// A count of the study in one run: the number, or the setting of the factor that it names.
/// Throws RunError for a setting that is no whole number from 0.
int count_in(const study::Count& count, const study::Study& study, const study::PlannedRun& run);

/// The variables of an attempt: DOETUNE_REQUEST, DOETUNE_RESULT, the study's own, and
/// CUDA_VISIBLE_DEVICES where the study assigns GPUs and no scheduler does.
std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot);

}  // namespace doetune::runner
