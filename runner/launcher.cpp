#include "runner/launcher.h"

#include <fmt/format.h>

#include <array>

#include "doe/nearest_name.h"
#include "runner/local_launcher.h"
#include "runner/run_error.h"

namespace doetune::runner {
namespace {

std::unique_ptr<Launcher> make_local(const LauncherRequest&) {
  return std::make_unique<LocalLauncher>();
}

constexpr std::array kLauncherTypes{
    LauncherType{"local", "processes on this machine", make_local},
};

}  // namespace

std::vector<Place> Launcher::places(const study::RunSettings& run,
                                    const PlaceOptions& options) const {
  Place place;
  place.jobs = options.jobs.value_or(run.jobs.value_or(1));
  place.gpus = options.gpus;
  if (place.gpus.empty()) {
    for (int gpu = 0; gpu < place.jobs * run.gpus_per_run.fixed; ++gpu) {
      place.gpus.push_back(fmt::format("{}", gpu));
    }
  }
  place.runs_per_gpu = run.runs_per_gpu;
  place.cpus = usable_cpus();
  place.cpus_per_run = run.cpus_per_run;
  return {place};
}

std::span<const LauncherType> launcher_types() { return kLauncherTypes; }

std::unique_ptr<Launcher> make_launcher(std::string_view name, const LauncherRequest& request) {
  std::vector<std::string> names;
  for (const LauncherType& type : kLauncherTypes) {
    if (type.name == name) return type.make(request);
    names.emplace_back(type.name);
  }
  throw RunError(fmt::format("there is no launcher '{}'{}", name, doe::did_you_mean(name, names)),
                 "run.launcher");
}

}  // namespace doetune::runner
