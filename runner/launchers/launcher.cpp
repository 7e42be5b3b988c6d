#include "runner/launchers/launcher.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/host.h"
#include "base/nearest_name.h"
#include "runner/launchers/kubernetes_launcher.h"
#include "runner/launchers/local_launcher.h"
#include "runner/launchers/pilot_launcher.h"
#include "runner/launchers/served_launcher.h"
#include "runner/launchers/slurm_launcher.h"
#include "runner/launchers/spark_launcher.h"
#include "runner/launchers/ssh_launcher.h"
#include "runner/launchers/usable_gpus.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

std::unique_ptr<Launcher> make_local(const LauncherRequest&) {
  return std::make_unique<LocalLauncher>();
}

template <class Type>
std::unique_ptr<Launcher> make(const LauncherRequest& request) {
  return std::make_unique<Type>(request);
}

/// On other hosts, runs are executed beside their server, not by the launcher.
std::unique_ptr<Launcher> with_servers(std::unique_ptr<Launcher> launcher,
                                       const study::RunSettings& run) {
  if (launcher->is_local() || run.server.set_up.empty()) return launcher;
  return std::make_unique<ServedLauncher>(std::move(launcher));
}

constexpr std::array kLauncherTypes{
    LauncherType{"kubernetes", "each run as a Job of Kubernetes", make<KubernetesLauncher>},
    LauncherType{"local", "processes on this machine", make_local},
    LauncherType{"slurm", "each run as its own job in Slurm's queue", make<SlurmLauncher>},
    LauncherType{"slurm-pilot", "all runs in one Slurm allocation", make<PilotLauncher>},
    LauncherType{"spark", "tasks of one Spark application", make<SparkLauncher>},
    LauncherType{"ssh", "hosts reached by ssh", make<SshLauncher>},
};

}  // namespace

std::vector<HostCapacity> Launcher::capacities(const study::RunSettings& run,
                                               const SlotOptions& options) const {
  HostCapacity capacity;
  capacity.jobs = options.jobs.value_or(run.jobs.value_or(1));
  capacity.gpus = options.gpus;
  const bool wants_gpus = run.gpus_per_run.fixed > 0 || !run.gpus_per_run.factor.empty();
  if (capacity.gpus.empty() && wants_gpus) {
    UsableGpus usable = usable_gpus();
    if (usable.ids.empty()) {
      throw RunError(fmt::format("runs need GPUs, but none are visible: {}; `doetune doctor` shows "
                                 "more, --gpus selects GPUs",
                                 usable.problem),
                     "run.gpus_per_run");
    }
    capacity.gpus = std::move(usable.ids);
  }
  capacity.runs_per_gpu = run.runs_per_gpu;
  capacity.cpus = usable_cpus();
  capacity.cpus_per_run = run.cpus_per_run;
  return {capacity};
}

std::span<const LauncherType> launcher_types() { return kLauncherTypes; }

std::unique_ptr<Launcher> make_launcher(std::string_view name, const LauncherRequest& request) {
  std::vector<std::string> names;
  for (const LauncherType& type : kLauncherTypes) {
    if (type.name == name) return with_servers(type.make(request), request.run);
    names.emplace_back(type.name);
  }
  throw RunError(
      fmt::format("there is no launcher '{}'{}", name, did_you_mean_or_list(name, names)),
      "run.launcher");
}

}  // namespace doetune::runner
