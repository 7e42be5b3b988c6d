#include "workloads/communication/launch.h"

#include <omp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "workloads/communication/communicator.h"
#include "workloads/communication/mpi/mpi_library.h"
#include "workloads/processes/child_process.h"
#include "workloads/processes/cpus.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

constexpr const char* kLaunched = "DOETUNE_LAUNCHED";

std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(in, argument, '\0');) arguments.push_back(argument);
  arguments.front() = std::filesystem::read_symlink("/proc/self/exe");
  return arguments;
}

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

/// As root too, as in a container; more ranks than processors; and on this machine, within
/// whatever job of Slurm's.
std::vector<std::pair<std::string, std::string>> settings() {
  return {{kLaunched, "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"OMPI_MCA_plm", "^slurm"},
          {"OMPI_MCA_ras", "^slurm"}};
}

}  // namespace

void launch_ranks(int ranks, const std::vector<int>& cpus) {
  require_mpi();
  if (!in_path("mpirun"))
    throw Infeasible("mpirun, which starts several ranks, is missing: apt install openmpi-bin");
  ChildStart start{{"mpirun", "-n", std::to_string(ranks)},
                   settings(),
                   {},
                   cpus,
                   std::max(1, static_cast<int>(cpus.size()) / ranks),
                   "mpirun"};
  for (const std::string& argument : own_arguments()) start.arguments.push_back(argument);
  ChildProcess mpirun(start);
  mpirun.wait();
  if (mpirun.failed()) mpirun.report("a rank", "fewer ranks or smaller batches take less");
}

void settle(const std::vector<int>& cpus) {
  const std::optional<int> ranks = started_ranks();
  if (!ranks) {
    use_cpus(cpus);
    omp_set_num_threads(static_cast<int>(cpus.size()));
  } else if (std::getenv(kLaunched) != nullptr) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    use_cpus(cpus_of(cpus, std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")), *ranks));
  }
}

}  // namespace doetune::workloads
