// Checkpoints: a training in progress, as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "workloads/protocol/protocol.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {

/// The file in the directory for a training with these settings (all that its outcome depends on):
/// different settings have different files, so that all runs of a study can share the directory.
std::filesystem::path checkpoint_file(const std::filesystem::path& directory, const Json& settings);

/// Writes state and network by rename, so that the file is complete at any time: a magic number,
/// the length of a JSON text, the text (settings and state), the blocks of parameters, momentum and
/// statistics as floats, a checksum of all before it (base/hash.h). Removes partial files of killed
/// writers of the same file. Throws std::runtime_error where the file cannot be written; the
/// previous one is kept.
void save_checkpoint(const std::filesystem::path& file, const Json& settings,
                     const TrainingState& state, TrainableNetwork& network);

/// Loads the network and returns the state; empty where there is no such file. Throws UsageError
/// where the file is truncated, damaged, or for other settings.
std::optional<TrainingState> load_checkpoint(const std::filesystem::path& file,
                                             const Json& settings, TrainableNetwork& network);

}  // namespace doetune::workloads
