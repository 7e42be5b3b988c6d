// Diagnoses this machine: problems, likely disturbances and their remedies.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// Current state of the machine.
struct MachineState {
  std::optional<double> cpu_busy_fraction;  ///< over all processors
  std::optional<double> memory_available_bytes;
  std::optional<double> swap_used_bytes;
  std::optional<double> disk_free_bytes;  ///< for this user, in the directory's file system
  std::optional<double> disk_total_bytes;
  std::optional<bool> clock_synchronised;  ///< as reported by the kernel
  std::map<std::string, bool> programs;  ///< whether git, sbatch, ssh, java and mpirun are in PATH
};

/// Samples the load of the processors for 0.3 s.
MachineState read_machine_state(const std::filesystem::path& directory);

enum class FindingLevel {
  kProblem,   ///< GPU runs, or all runs, will fail
  kDoubtful,  ///< measurements may be disturbed
  kOptional,  ///< needed by some launchers only
};

struct Finding {
  FindingLevel level = FindingLevel::kDoubtful;
  std::string what;
  std::string remedy;
};

/// Most severe first. `conditions` is the result of read_conditions.
std::vector<Finding> findings(const nlohmann::ordered_json& conditions, const MachineState& state);

}  // namespace doetune::runner
