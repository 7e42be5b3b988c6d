#include <fmt/format.h>

#include <filesystem>

#include "base/json_format.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "runner/attempts/attempt.h"
#include "runner/conditions/checkup.h"
#include "runner/conditions/conditions.h"
#include "runner/conditions/environment.h"

namespace doetune::cli {
namespace {

using Json = nlohmann::ordered_json;
using runner::Finding;
using runner::FindingLevel;
using runner::MachineState;

constexpr std::size_t kIndent = 14;

/// A value as text; "unknown" if it is null.
std::string text_of(const Json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string gib(const Json& bytes) {
  if (!bytes.is_number()) return "unknown";
  return fmt::format("{:.1f} GiB", bytes.get<double>() / (1024.0 * 1024 * 1024));
}

std::string gib(const std::optional<double>& bytes) {
  return bytes ? gib(Json(*bytes)) : "unknown";
}

/// Prints a line of the table; without a title it continues the previous one.
void print_line(const std::string& title, const std::string& text) {
  const std::string space(kIndent - 2 - character_count(title), ' ');
  fmt::print("  {}{}{}\n", title.empty() ? "" : coloured(title, Colour::kStrong), space,
             wrapped(text, kIndent, kColumns));
}

std::string limits_text(const Json& limits) {
  std::string text;
  if (limits["memory_bytes"].is_number()) text = gib(limits["memory_bytes"]) + " of memory";
  if (limits["cpus"].is_number()) {
    text +=
        fmt::format("{}{:.2g} processors", text.empty() ? "" : ", ", limits["cpus"].get<double>());
  }
  return text.empty() ? "none" : text;
}

std::string source_text(const Json& source) {
  if (source["revision"].is_null()) return "not a git repository";
  return fmt::format("{}{}", source["revision"].get<std::string>().substr(0, 12),
                     source["dirty"] == true ? ", with uncommitted changes" : "");
}

/// What the driver reports about a GPU; unknown values are omitted.
std::string gpu_text(const Json& gpu) {
  std::string text = text_of(gpu["name"]);
  const auto add = [&](const Json& value, const std::string& words) {
    if (!value.is_null()) text += ", " + fmt::format(fmt::runtime(words), text_of(value));
  };
  if (!gpu["memory_bytes"].is_null()) text += ", " + gib(gpu["memory_bytes"]);
  add(gpu["power_limit_W"], "up to {} W");
  add(gpu["now"]["sm_clock_MHz"],
      fmt::format("clock {{}} of {} MHz", text_of(gpu["sm_clock_max_MHz"])));
  add(gpu["now"]["memory_clock_MHz"],
      fmt::format("memory {{}} of {} MHz", text_of(gpu["memory_clock_max_MHz"])));
  add(gpu["persistence"], "persistence {}");
  add(gpu["ecc"], "ECC {}");
  add(gpu["compute_mode"], "compute mode {}");
  return text + (gpu["mig"] == true ? ", in MIG mode" : "");
}

void print_gpu(const Json& gpu) {
  print_line(fmt::format("GPU {}", gpu["index"].get<int>()), gpu_text(gpu));
  print_line("", coloured(text_of(gpu["uuid"]), Colour::kFaint));
  for (const Json& instance : gpu["instances"]) {
    print_line("",
               fmt::format("{}, {}, {}", text_of(instance["name"]), gib(instance["memory_bytes"]),
                           coloured(text_of(instance["uuid"]), Colour::kFaint)));
  }
}

std::string libraries_text(const Json& libraries) {
  std::string text;
  for (const auto& [name, version] : libraries.items()) {
    if (version.is_null()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of(version));
  }
  return text.empty() ? "no libcudart, libcudnn or libnccl on the loader's path" : text;
}

/// The number of variables, and those that a user may have forgotten.
std::string environment_text(const Json& inherited) {
  std::size_t hidden = 0;
  std::string text;
  for (const auto& [name, value] : inherited.items()) {
    hidden += value == runner::kHidden ? 1 : 0;
    const bool shown = runner::matters_for_speed(name) && name != "PATH";
    const std::string setting = fmt::format("{}={}", name, text_of(value));
    if (shown) text += ", " + shortened(setting, kColumns - kIndent - 1);
  }
  return fmt::format("{} variables, {} of them hidden as secrets{}", inherited.size(), hidden,
                     text);
}

void print_conditions(const Json& conditions, const MachineState& state) {
  fmt::print("{} {} on {}, conditions {}\n\n", coloured("doetune", Colour::kStrong),
             text_of(conditions["doetune"]), runner::node_name(),
             text_of(conditions["conditions_id"]));
  const Json& system = conditions["system"];
  const Json& cpu = conditions["cpu"];
  print_line("system",
             fmt::format("{}, {}, {}", text_of(system["distribution"]), text_of(system["kernel"]),
                         system["container"].is_null()
                             ? "not in a container"
                             : "in a container: " + text_of(system["container"])));
  print_line("processors",
             fmt::format("{}, {} ({} usable), governor {}, turbo {}", text_of(cpu["model"]),
                         text_of(cpu["count"]), text_of(cpu["usable"]), text_of(cpu["governor"]),
                         text_of(cpu["turbo"])));
  const Json& swap = conditions["memory"]["swap_bytes"];
  print_line("memory", fmt::format("{}, {} available, {}", gib(conditions["memory"]["total_bytes"]),
                                   gib(state.memory_available_bytes),
                                   swap == 0 ? "no swap" : gib(swap) + " of swap"));
  print_line("limits", limits_text(conditions["limits"]));
  print_line("disk",
             fmt::format("{} free of {}", gib(state.disk_free_bytes), gib(state.disk_total_bytes)));
  const Json& driver = conditions["gpu_driver"];
  if (!driver["version"].is_null()) {
    print_line("GPU driver",
               fmt::format("{}, CUDA {}", text_of(driver["version"]), text_of(driver["cuda"])));
  }
  for (const Json& gpu : conditions["gpus"]) print_gpu(gpu);
  if (conditions["gpus"].empty()) print_line("GPUs", "none");
  print_line("libraries", libraries_text(conditions["libraries"]));
  print_line("source", source_text(conditions["source"]));
  print_line("environment", environment_text(conditions["environment"]["inherited"]));
}

void print_findings(const std::vector<Finding>& found) {
  if (found.empty()) {
    fmt::print("\n{}\n", coloured("No problems found.", Colour::kGood));
    return;
  }
  const auto mark = [](FindingLevel level) {
    switch (level) {
      case FindingLevel::kProblem:
        return coloured("problem ", Colour::kBad);
      case FindingLevel::kDoubtful:
        return coloured("doubtful", Colour::kCaution);
      case FindingLevel::kOptional:
        break;
    }
    return coloured("optional", Colour::kFaint);
  };
  fmt::print("\n");
  for (const Finding& finding : found) {
    fmt::print("  {}    {}\n{}{}\n", mark(finding.level), wrapped(finding.what, kIndent, kColumns),
               std::string(kIndent, ' '),
               coloured(wrapped(finding.remedy, kIndent, kColumns), Colour::kFaint));
  }
}

struct Checkup {
  const Json& conditions;
  const MachineState& state;
  const std::vector<Finding>& findings;
};

json::Format<Checkup> checkup_format() {
  const auto now =
      json::object<MachineState>({{"cpu_busy_share", &MachineState::cpu_busy_fraction},
                                  {"memory_available_bytes", &MachineState::memory_available_bytes},
                                  {"swap_used_bytes", &MachineState::swap_used_bytes},
                                  {"disk_free_bytes", &MachineState::disk_free_bytes},
                                  {"disk_total_bytes", &MachineState::disk_total_bytes},
                                  {"clock_synchronised", &MachineState::clock_synchronised}});
  const auto level = json::words<FindingLevel>({"problem", "doubtful", "optional"});
  const auto finding = json::object<Finding>(
      {{"level", &Finding::level, level}, {"what", &Finding::what}, {"remedy", &Finding::remedy}});
  return json::document<Checkup>(
      {{"host", [](const Checkup&) { return runner::node_name(); }},
       {"conditions", [](const Checkup& checkup) { return checkup.conditions; },
        json::map(json::anything())},
       {"now", [](const Checkup& checkup) { return checkup.state; }, now},
       {"findings", [](const Checkup& checkup) { return checkup.findings; }, finding}});
}

}  // namespace

json::Schema doctor_schema() { return checkup_format().schema; }

int command_doctor(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const auto here = std::filesystem::current_path();
  const Json conditions = runner::read_conditions(here, {});
  const MachineState state = runner::read_machine_state(here);
  const std::vector<Finding> found = runner::findings(conditions, state);
  if (options.json()) {
    fmt::print("{}", checkup_format().text({conditions, state, found}));
  } else {
    print_conditions(conditions, state);
    print_findings(found);
  }
  return kDone;
}

}  // namespace doetune::cli
