#include "runner/telemetry/bottleneck.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace doetune::runner {
namespace {

constexpr double kBusy_percent = 90;
constexpr double kMemoryBusy_percent = 80;
constexpr double kStalled_fraction = 0.15;
constexpr double kHeat_fraction = 0.1;
constexpr double kLimiting_fraction = 0.5;
constexpr double kAwaitingDisk_fraction = 0.2;
constexpr double kOneThread_cores = 0.9;

constexpr double kForeign_fraction = 0.05;
constexpr double kSteal_fraction = 0.02;
constexpr double kThrottled_fraction = 0.05;

std::optional<double> fact(const Facts& facts, const char* name) {
  const auto found = facts.find(name);
  if (found == facts.end()) return std::nullopt;
  return found->second;
}

bool at_least(const Facts& facts, const char* name, double threshold) {
  const auto value = fact(facts, name);
  return value && *value >= threshold;
}

bool below(const Facts& facts, const char* name, double threshold) {
  const auto value = fact(facts, name);
  return value && *value < threshold;
}

std::string percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

std::string gpus_busy(const Facts& facts) {
  const auto busy = fact(facts, "gpu_utilization");
  return busy ? fmt::format("the GPU was {:.0f} % busy", *busy) : "";
}

std::string cores_busy(const Facts& facts) {
  const auto busy = fact(facts, "cpu_utilization");
  if (!busy) return "";
  const bool shared = at_least(facts, "foreign_cpu_share", kForeign_fraction);
  return fmt::format(
      "the assigned cores were {:.0f} % busy{}", *busy,
      shared ? fmt::format(" ({} by other programs)", percent(facts.at("foreign_cpu_share"))) : "");
}

/// Whether this run keeps the cores busy; if other programs do, it is disturbed, not limited.
bool cores_are_busy(const Facts& facts) {
  const auto busy = fact(facts, "cpu_utilization");
  return busy && *busy >= kBusy_percent && !at_least(facts, "foreign_cpu_share", *busy / 200);
}

std::string with_gpus(std::string sentence, const Facts& facts) {
  const std::string gpus = gpus_busy(facts);
  return gpus.empty() ? sentence : fmt::format("{} while {}", sentence, gpus);
}

constexpr std::array kRules{
    BottleneckRule{
        "memory",
        [](const Facts& facts) { return at_least(facts, "memory_stall_share", kStalled_fraction); },
        [](const Facts& facts) {
          return with_gpus(fmt::format("programs waited for memory for {} of the time",
                                       percent(facts.at("memory_stall_share"))),
                           facts);
        },
        "programs waited for memory for at least 15 % of the time"},
    BottleneckRule{
        "thermal_limited",
        [](const Facts& facts) { return at_least(facts, "thermal_limited_share", kHeat_fraction); },
        [](const Facts& facts) {
          const auto temperature = fact(facts, "temperature_max");
          return fmt::format("the GPU was throttled by heat for {} of the time{}",
                             percent(facts.at("thermal_limited_share")),
                             temperature ? fmt::format(", at {:.0f} C", *temperature) : "");
        },
        "a GPU was throttled by heat for at least 10 % of the time"},
    BottleneckRule{"power_limited",
                   [](const Facts& facts) {
                     return at_least(facts, "power_limited_share", kLimiting_fraction);
                   },
                   [](const Facts& facts) {
                     const auto power = fact(facts, "power");
                     return fmt::format(
                         "the GPU was throttled by its power limit for {} of the time{}",
                         percent(facts.at("power_limited_share")),
                         power ? fmt::format(", at {:.0f} W", *power) : "");
                   },
                   "a GPU was throttled by its power limit for at least 50 % of the time"},
    BottleneckRule{"gpu_memory_bandwidth",
                   [](const Facts& facts) {
                     return at_least(facts, "gpu_utilization", kBusy_percent) &&
                            at_least(facts, "gpu_memory_utilization", kMemoryBusy_percent);
                   },
                   [](const Facts& facts) {
                     return fmt::format("{}, its memory was accessed for {:.0f} % of the time",
                                        gpus_busy(facts), facts.at("gpu_memory_utilization"));
                   },
                   "the GPU was at least 90 % busy, and its memory was accessed for at least 80 % "
                   "of the time"},
    BottleneckRule{
        "gpu_compute",
        [](const Facts& facts) { return at_least(facts, "gpu_utilization", kBusy_percent); },
        [](const Facts& facts) {
          const auto memory = fact(facts, "gpu_memory_utilization");
          return gpus_busy(facts) +
                 (memory
                      ? fmt::format(", its memory was accessed for {:.0f} % of the time", *memory)
                      : "");
        },
        "the GPU was at least 90 % busy"},
    BottleneckRule{"decode",
                   [](const Facts& facts) {
                     return cores_are_busy(facts) &&
                            at_least(facts, "decode_share", kLimiting_fraction);
                   },
                   [](const Facts& facts) {
                     return with_gpus(fmt::format("{}, {} of the work decoding,", cores_busy(facts),
                                                  percent(facts.at("decode_share"))),
                                      facts);
                   },
                   "the cores were at least 90 % busy, less than half of it by other programs, and "
                   "decoding was at least half of the work"},
    BottleneckRule{"host_cpu", [](const Facts& facts) { return cores_are_busy(facts); },
                   [](const Facts& facts) { return with_gpus(cores_busy(facts), facts); },
                   "the cores were at least 90 % busy, less than half of it by other programs"},
    BottleneckRule{
        "io",
        [](const Facts& facts) {
          return at_least(facts, "iowait_share", kAwaitingDisk_fraction) ||
                 at_least(facts, "io_stall_share", kLimiting_fraction);
        },
        [](const Facts& facts) {
          const bool idle = at_least(facts, "iowait_share", kAwaitingDisk_fraction);
          return with_gpus(
              idle ? fmt::format("the assigned cores waited for a disk for {} of the time",
                                 percent(facts.at("iowait_share")))
                   : fmt::format("programs waited for a disk for {} of the time",
                                 percent(facts.at("io_stall_share"))),
              facts);
        },
        "the cores waited for a disk for at least 20 % of the time, or programs for at least 50 %"},
    BottleneckRule{
        "launch_bound",
        [](const Facts& facts) {
          return below(facts, "gpu_utilization", kBusy_percent) &&
                 at_least(facts, "cores_used", kOneThread_cores) &&
                 below(facts, "cores_used", 2 * kOneThread_cores);
        },
        [](const Facts& facts) {
          return with_gpus(
              fmt::format("the program kept {:.1f} cores busy", facts.at("cores_used")), facts);
        },
        "the program kept one core busy (0.9 to 1.8), and the GPU was less than 90 % busy"},
};

std::string nothing_found(const Facts& facts) {
  std::string text = "nothing measured was near its limit";
  for (const std::string& part : {cores_busy(facts), gpus_busy(facts)}) {
    if (!part.empty()) text += (text.find(':') == std::string::npos ? ": " : ", ") + part;
  }
  return text;
}

std::vector<std::string> disturbances(const Facts& facts) {
  std::vector<std::string> found;
  const auto report = [&](const char* name, double threshold, std::string_view sentence) {
    if (!at_least(facts, name, threshold)) return;
    found.push_back(fmt::format(fmt::runtime(sentence), percent(facts.at(name))));
  };
  report("foreign_cpu_share", kForeign_fraction, "other programs used {} of the assigned cores");
  report("steal_share", kSteal_fraction,
         "the hypervisor took {} of the time of the assigned cores");
  report("throttled_share", kThrottled_fraction, "the GPU was throttled for {} of the time");
  if (const auto errors = fact(facts, "ecc_errors"); errors && *errors >= 1) {
    found.push_back(fmt::format("the GPU had {:.0f} memory errors", *errors));
  }
  return found;
}

}  // namespace

std::span<const BottleneckRule> bottleneck_rules() { return kRules; }

Verdict find_bottleneck(const Facts& facts) {
  Verdict verdict{"none_found", nothing_found(facts), disturbances(facts)};
  for (const BottleneckRule& rule : kRules) {
    if (!rule.holds(facts)) continue;
    verdict.bottleneck = rule.bottleneck;
    verdict.evidence = rule.evidence(facts);
    break;
  }
  return verdict;
}

}  // namespace doetune::runner
