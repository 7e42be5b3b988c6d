// What is missing on this machine, or in doubt, and what would help.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// How the machine is at this moment.
struct MachineState {
  std::optional<double> cpu_busy_share;  ///< of all processors
  std::optional<double> memory_available_bytes;
  std::optional<double> swap_used_bytes;
  std::optional<double> disk_free_bytes;  ///< for this user, where the directory is
  std::optional<double> disk_total_bytes;
  std::optional<bool> clock_synchronised;  ///< by the kernel's own word
  std::map<std::string, bool> programs;    ///< git, sbatch, ssh, mpirun: whether PATH has them
};

/// Looks for 0.3 s how busy the processors are.
MachineState read_machine_state(const std::filesystem::path& directory);

enum class FindingLevel {
  kProblem,   ///< runs on GPUs, or any runs, will fail
  kDoubtful,  ///< measurements may be disturbed
  kOptional,  ///< only some launchers need it
};

struct Finding {
  FindingLevel level = FindingLevel::kDoubtful;
  std::string what;
  std::string remedy;
};

/// In the order of their weight. `conditions` is what read_conditions gives.
std::vector<Finding> findings(const nlohmann::ordered_json& conditions, const MachineState& state);

}  // namespace doetune::runner
