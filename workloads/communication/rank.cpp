#include "workloads/communication/rank.h"
#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace doetune::workloads {
namespace {

struct Launcher {
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* job;  // differs between the jobs on a machine
};

constexpr Launcher kLaunchers[] = {
    {"DOETUNE_RANK", "DOETUNE_RANKS", "DOETUNE_LOCAL_RANK", "DOETUNE_RENDEZVOUS"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "PMIX_NAMESPACE"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_JOB_ID"}};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number(const char* name, int low, int high) {
  const std::string text = variable(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    throw std::invalid_argument(
        fmt::format("{} must be an integer from {} to {}, not '{}'", name, low, high, text));
  return value;
}

/// The first host of Slurm's list: of "rack[1-2]n[03-05,9]-ib,x" it is rack1n03-ib.
std::string first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    const std::size_t bracket = std::min(list.find_first_of(",["), list.size());
    host += list.substr(0, bracket);
    list.remove_prefix(bracket);
    if (!list.starts_with('[')) break;
    host += list.substr(1, list.find_first_of(",-]") - 1);
    list.remove_prefix(std::min(list.find(']'), list.size() - 1) + 1);
  }
  return host;
}

bool all_are_here() {
  return variable("OMPI_COMM_WORLD_LOCAL_SIZE") == variable("OMPI_COMM_WORLD_SIZE") &&
         !variable("OMPI_COMM_WORLD_SIZE").empty();
}

bool several_machines() {
  if (!variable("OMPI_COMM_WORLD_LOCAL_SIZE").empty()) return !all_are_here();
  return !variable("SLURM_STEP_NUM_NODES").empty() && variable("SLURM_STEP_NUM_NODES") != "1";
}

/// A port below the ephemeral range.
int port_of(const std::string& job) { return 20000 + static_cast<int>(fnv1a_32(job) % 10000); }

Address rendezvous(const Launcher& launcher) {
  const std::string given = variable("DOETUNE_RENDEZVOUS");
  try {
    if (!given.empty()) return address_named(given);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("DOETUNE_RENDEZVOUS: ") + error.what());
  }
  const int port = port_of(variable(launcher.job) + variable("SLURM_STEP_ID"));
  const std::string hosts = variable("SLURM_STEP_NODELIST");
  if (all_are_here()) return {"127.0.0.1", port};
  if (!hosts.empty()) return {first_host(hosts), port};
  throw std::invalid_argument(
      "DOETUNE_RENDEZVOUS=host:port must say where rank 0 listens: a host that all ranks can "
      "reach, and a free port on it");
}

}  // namespace

std::optional<RankContext> rank_from_environment() {
  for (const Launcher& launcher : kLaunchers) {
    if (variable(launcher.rank).empty() || variable(launcher.ranks).empty()) continue;
    RankContext context;
    context.ranks = number(launcher.ranks, 1, kMaxRanks);
    context.rank = number(launcher.rank, 0, context.ranks - 1);
    context.local_rank = variable(launcher.local_rank).empty()
                             ? context.rank
                             : number(launcher.local_rank, 0, kMaxRanks);
    if (context.ranks == 1 && &launcher != kLaunchers) continue;  // a one-task job is no group
    context.rendezvous = rendezvous(launcher);
    context.several_machines = &launcher != kLaunchers && several_machines();
    if (!variable("DOETUNE_LISTENER").empty() && context.rank == 0)
      context.listener = number("DOETUNE_LISTENER", 0, 1 << 20);
    return context;
  }
  return std::nullopt;
}

}  // namespace doetune::workloads
