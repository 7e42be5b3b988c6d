#include "runner/launcher.h"

#include <fmt/format.h>

#include <array>

#include "doe/nearest_name.h"
#include "runner/local_launcher.h"
#include "runner/run_error.h"

namespace doetune::runner {
namespace {

std::unique_ptr<Launcher> make_local() { return std::make_unique<LocalLauncher>(); }

constexpr std::array kLauncherTypes{
    LauncherType{"local", "processes on this machine", make_local},
};

}  // namespace

std::span<const LauncherType> launcher_types() { return kLauncherTypes; }

std::unique_ptr<Launcher> make_launcher(std::string_view name) {
  std::vector<std::string> names;
  for (const LauncherType& type : kLauncherTypes) {
    if (type.name == name) return type.make();
    names.emplace_back(type.name);
  }
  throw RunError(fmt::format("there is no launcher '{}'{}", name, doe::did_you_mean(name, names)),
                 "run.launcher");
}

}  // namespace doetune::runner
