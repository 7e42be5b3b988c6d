#include "runner/conditions/conditions.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/hash.h"
#include "base/json.h"
#include "base/version.h"
#include "runner/attempts/command.h"
#include "runner/conditions/environment.h"
#include "runner/conditions/host.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "runner/telemetry/nvml.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Variables = std::map<std::string, std::string>;

constexpr double kGitTimeout_s = 0.5;

bool is_revision(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

/// From git, if it is installed and the directory is in a repository. Hooks of git are not run.
Json source_conditions(const fs::path& directory, const std::string& search_path) {
  Json source{{"revision", nullptr}, {"dirty", nullptr}};
  fs::path git;
  try {
    git = find_program("git", "/", search_path);
  } catch (const RunError&) {
    return source;
  }
  const auto ask = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "git");
    return run_command({git, std::move(arguments), {}, directory, kGitTimeout_s});
  };
  CommandResult head = ask({"rev-parse", "--verify", "HEAD"});
  if (head.output.ends_with('\n')) head.output.pop_back();
  if (!is_revision(head.output)) return source;
  source["revision"] = head.output;
  const CommandResult changes = ask({"--no-optional-locks", "-c", "core.fsmonitor=false", "status",
                                     "--porcelain", "--untracked-files=no"});
  const bool complete = changes.exit_code == 0;
  if (complete || !changes.output.empty()) source["dirty"] = !changes.output.empty();
  return source;
}

Json instance_json(const MigInstance& instance) {
  return {{"uuid", instance.uuid},
          {"name", instance.name},
          {"memory_bytes", or_null(instance.memory_bytes)}};
}

Json gpu_json(const Gpu& gpu) {
  Json instances = Json::array();
  for (const MigInstance& instance : gpu.instances) instances.push_back(instance_json(instance));
  return {{"index", gpu.index},
          {"uuid", gpu.uuid},
          {"name", gpu.name},
          {"memory_bytes", or_null(gpu.memory_bytes)},
          {"persistence", or_null(gpu.persistence)},
          {"ecc", or_null(gpu.ecc)},
          {"compute_mode", or_null(gpu.compute_mode)},
          {"power_limit_W", or_null(gpu.power_limit_w)},
          {"sm_clock_max_MHz", or_null(gpu.sm_clock_max_mhz)},
          {"memory_clock_max_MHz", or_null(gpu.memory_clock_max_mhz)},
          {"mig", gpu.mig},
          {"instances", instances},
          {"now",
           {{"sm_clock_MHz", or_null(gpu.sm_clock_mhz)},
            {"memory_clock_MHz", or_null(gpu.memory_clock_mhz)},
            {"processes", gpu.processes}}}};
}

void add_gpus(Json& conditions) {
  const Nvml nvml;
  std::optional<std::string> problem;
  if (!nvml.problem().empty()) problem = nvml.problem();
  conditions["gpu_driver"] = {{"version", or_null(nvml.driver_version())},
                              {"cuda", or_null(nvml.cuda_version())},
                              {"problem", or_null(problem)}};
  conditions["gpus"] = Json::array();
  for (const Gpu& gpu : nvml.list_gpus()) conditions["gpus"].push_back(gpu_json(gpu));
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool differs_from_run_to_run(const std::string& name) {
  return name.starts_with("DOETUNE_") || name == "CUDA_VISIBLE_DEVICES";
}

}  // namespace

Json read_conditions(const fs::path& working_directory, const Variables& environment) {
  const Variables own = own_environment();
  Variables all = environment;
  all.insert(own.begin(), own.end());  // the attempt's values take precedence
  Variables inherited = own;
  std::erase_if(inherited, [&](const auto& entry) { return environment.count(entry.first) > 0; });

  Json conditions{{"conditions_id", nullptr}, {"doetune", version()}};
  conditions["source"] = source_conditions(working_directory, search_path(environment));
  conditions["system"] = system_conditions("/", all);
  conditions["cpu"] = cpu_conditions("/");
  conditions["memory"] = memory_conditions("/");
  conditions["limits"] = limit_conditions("/");
  add_gpus(conditions);
  conditions["libraries"] = library_conditions(library_directories(all));
  conditions["environment"] = {{"set", without_secrets(environment)},
                               {"inherited", without_secrets(inherited)}};
  conditions = Json::parse(text_of(conditions));  // replaces invalid UTF-8 in names and values
  conditions["conditions_id"] = conditions_id(conditions);
  return conditions;
}

std::string conditions_id(const Json& conditions) {
  Json lasting = conditions;
  lasting.erase("conditions_id");
  for (Json& gpu : lasting["gpus"]) gpu.erase("now");
  Json& environment = lasting["environment"];
  Json kept{{"set", Json::object()}, {"inherited", Json::object()}};
  for (const auto& [name, value] : environment["set"].items()) {
    if (!differs_from_run_to_run(name)) kept["set"][name] = value;
  }
  for (const auto& [name, value] : environment["inherited"].items()) {
    if (matters_for_speed(name)) kept["inherited"][name] = value;
  }
  environment = kept;
  return text_hash(text_of(lasting));
}

}  // namespace doetune::runner
