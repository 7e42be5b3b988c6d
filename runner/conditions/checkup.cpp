#include "runner/conditions/checkup.h"

#include <fmt/format.h>
#include <sys/timex.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "runner/processes/proc_files.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

using Json = nlohmann::ordered_json;
using Level = FindingLevel;

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kBusy_fraction = 0.1;
constexpr double kLittleDisk_bytes = kGiB;

/// A program that some launchers require.
struct Client {
  const char* program;
  const char* what;
  const char* package;
  const char* for_what;
};

constexpr std::array kClients{
    Client{"git", "git", "git", "to record the revision of the code that is run"},
    Client{"sbatch", "the Slurm client", "slurm-client", "by the launcher slurm"},
    Client{"ssh", "the OpenSSH client", "openssh-client", "by the launcher ssh"},
    Client{"kubectl", "kubectl", "kubernetes-client", "by the launcher kubernetes"},
    Client{"java", "Java", "openjdk-17-jre-headless", "by the launcher spark"},
    Client{"mpirun", "mpirun", "openmpi-bin", "by workloads of several processes without Slurm"}};

std::optional<double> busy_fraction() {
  ProcFile stat("/proc/stat");
  const CpuTimes before = cpu_times(stat.read(), {});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const CpuTimes after = cpu_times(stat.read(), {});
  return fraction_between(before, after, &CpuTimes::busy_s);
}

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / kGiB); }

std::optional<double> number_at(const Json& object, const char* section, const char* name) {
  const auto& value = object.at(section).at(name);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

void check_gpus(const Json& conditions, std::vector<Finding>& found) {
  const Json& driver = conditions.at("gpu_driver");
  if (driver.at("problem").is_string()) {
    const bool no_driver = driver.at("version").is_null();
    found.push_back({no_driver ? Level::kOptional : Level::kProblem,
                     driver.at("problem").get<std::string>(),
                     "for runs on GPUs install the NVIDIA driver (Debian: nvidia-driver); in a "
                     "container give it the GPUs (docker --gpus all, apptainer --nv)"});
  }
  for (const Json& gpu : conditions.at("gpus")) {
    const std::string name = fmt::format("GPU {}", gpu.at("index").get<int>());
    if (gpu.at("persistence") == false) {
      found.push_back({Level::kDoubtful,
                       name + ": persistence mode is off, so the driver is reloaded for the first "
                              "program after an idle period",
                       fmt::format("sudo nvidia-smi -i {} -pm 1, or start nvidia-persistenced",
                                   gpu.at("index").get<int>())});
    }
    if (gpu.at("compute_mode") == "prohibited") {
      found.push_back(
          {Level::kProblem, name + ": compute mode Prohibited, so no program can use it",
           fmt::format("sudo nvidia-smi -i {} -c DEFAULT", gpu.at("index").get<int>())});
    }
    if (gpu.at("mig") == true && gpu.at("instances").empty()) {
      found.push_back({Level::kProblem, name + ": MIG mode is on, but there is no instance",
                       "create instances (nvidia-smi mig -cgi ... -C), or switch MIG mode off"});
    }
    const Json& processes = gpu.at("now").at("processes");
    if (!processes.empty()) {
      found.push_back(
          {Level::kDoubtful,
           fmt::format("{}: in use by {} {}", name, processes.size() == 1 ? "process" : "processes",
                       fmt::join(processes.get<std::vector<int>>(), ", ")),
           "wait until it is free, or exclude it with doetune run --gpus"});
    }
  }
}

void check_processors(const Json& conditions, const MachineState& state,
                      std::vector<Finding>& found) {
  if (state.cpu_busy_fraction && *state.cpu_busy_fraction >= kBusy_fraction) {
    found.push_back({Level::kDoubtful,
                     fmt::format("other programs use {:.0f} % of the processors now",
                                 100 * *state.cpu_busy_fraction),
                     "stop them before measuring (top lists them)"});
  }
  const Json& governor = conditions.at("cpu").at("governor");
  if (governor.is_string() && governor != "performance") {
    found.push_back({Level::kDoubtful,
                     fmt::format("the CPU frequency governor is {}", governor.get<std::string>()),
                     "sudo cpupower frequency-set -g performance (Debian: linux-cpupower)"});
  }
  const auto limit = number_at(conditions, "limits", "cpus");
  const auto usable = number_at(conditions, "cpu", "usable");
  if (limit && usable && *limit < *usable) {
    found.push_back({Level::kDoubtful,
                     fmt::format("a control group limits processor time to {:.2g} of {} processors",
                                 *limit, *usable),
                     "raise it (docker --cpus, Slurm --cpus-per-task), or plan for that number"});
  }
}

void check_memory(const Json& conditions, const MachineState& state, std::vector<Finding>& found) {
  const auto limit = number_at(conditions, "limits", "memory_bytes");
  const auto total = number_at(conditions, "memory", "total_bytes");
  if (limit && total && *limit < *total) {
    found.push_back(
        {Level::kDoubtful,
         fmt::format("a control group limits memory to {} of {}", gib(*limit), gib(*total)),
         "runs that need more are killed; raise it (docker --memory, Slurm --mem)"});
  }
  if (state.swap_used_bytes && *state.swap_used_bytes > 0) {
    found.push_back({Level::kDoubtful,
                     fmt::format("{} of swap is in use", gib(*state.swap_used_bytes)),
                     "stop the programs that need the memory; sudo swapoff -a then reads the "
                     "swapped pages back"});
  }
  if (state.disk_free_bytes && *state.disk_free_bytes < kLittleDisk_bytes) {
    found.push_back({Level::kDoubtful,
                     fmt::format("only {} of disk space is free here", gib(*state.disk_free_bytes)),
                     "free some space: each run keeps up to 9 MiB of its output"});
  }
}

void check_programs(const MachineState& state, std::vector<Finding>& found) {
  if (state.clock_synchronised == false) {
    found.push_back({Level::kDoubtful, "the clock is not synchronised with a time server",
                     "start chrony or systemd-timesyncd, so that nodes and logs agree"});
  }
  for (const Client& client : kClients) {
    const auto known = state.programs.find(client.program);
    if (known == state.programs.end() || known->second) continue;
    found.push_back({Level::kOptional, fmt::format("{} is not installed", client.what),
                     fmt::format("needed only {} (Debian: {})", client.for_what, client.package)});
  }
}

}  // namespace

MachineState read_machine_state(const std::filesystem::path& directory) {
  MachineState state;
  state.cpu_busy_fraction = busy_fraction();
  const std::string meminfo = read_proc_file("/proc/meminfo");
  state.memory_available_bytes = meminfo_bytes(meminfo, "MemAvailable");
  const auto swap = meminfo_bytes(meminfo, "SwapTotal");
  const auto unused = meminfo_bytes(meminfo, "SwapFree");
  if (swap && unused) state.swap_used_bytes = *swap - *unused;
  std::error_code error;
  if (const auto space = std::filesystem::space(directory, error); !error) {
    state.disk_free_bytes = static_cast<double>(space.available);
    state.disk_total_bytes = static_cast<double>(space.capacity);
  }
  timex clock{};
  const int clock_state = ::adjtimex(&clock);
  if (clock_state >= 0) {
    state.clock_synchronised = clock_state != TIME_ERROR && (clock.status & STA_UNSYNC) == 0;
  }
  for (const Client& client : kClients)
    state.programs[client.program] = !in_path(client.program).empty();
  return state;
}

std::vector<Finding> findings(const Json& conditions, const MachineState& state) {
  std::vector<Finding> found;
  check_gpus(conditions, found);
  check_processors(conditions, state, found);
  check_memory(conditions, state, found);
  check_programs(state, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return static_cast<int>(a.level) < static_cast<int>(b.level);
  });
  return found;
}

}  // namespace doetune::runner
