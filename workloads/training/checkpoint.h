// A training under way, as a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "workloads/protocol/protocol.h"
#include "workloads/training/trainer.h"

namespace doetune::workloads {

/// Where the training by these settings (all that decides what is learnt) is kept in a directory:
/// other settings have other files, so that all runs of a study can share it.
std::filesystem::path checkpoint_file(const std::filesystem::path& directory, const Json& settings);

/// Writes state and network by rename, so that the file is whole at any moment: a magic number, the
/// length of a JSON text, the text (settings and state), the blocks of parameters, momentum and
/// statistics as floats, a checksum of all before it (checksum.h). What killed writers of the same
/// file left behind is removed. Throws std::runtime_error where the file cannot be written; the one
/// before it stays.
void save_checkpoint(const std::filesystem::path& file, const Json& settings,
                     const TrainingState& state, TrainableNetwork& network);

/// Loads the network and gives back the state; empty where there is no such file. Throws UsageError
/// where it is cut short, damaged, or of other settings.
std::optional<TrainingState> load_checkpoint(const std::filesystem::path& file,
                                             const Json& settings, TrainableNetwork& network);

}  // namespace doetune::workloads
