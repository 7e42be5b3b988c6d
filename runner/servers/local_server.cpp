#include "runner/servers/local_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/launchers/local_launcher.h"
#include "runner/processes/listeners.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

constexpr double kAnswer_s = 5;    ///< for a server that is asked whether it is ready
constexpr double kCommand_s = 60;  ///< for run.ready and run.tear_down as commands

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

/// Why the program that listens at a port is not that of the attempt in this directory.
std::string problem_of_listener(int port, const std::filesystem::path& directory) {
  const auto own = LocalLauncher::mark_of_attempt(directory);
  for (const pid_t pid : listeners(port)) {
    const auto mark = mark_of(pid);
    if (!own || !mark || *mark == *own) continue;
    return fmt::format("port {} is in use by process {}, which another run started", port, pid);
  }
  return "";
}

constexpr int kFirstPort = 20000, kLastPort = 29999;  ///< below those of Kubernetes' NodePorts
constexpr int kAttempts = 100;

/// The first of the ports that the system takes for outgoing connections.
int first_outgoing_port() {
  constexpr int kUsual = 32768;
  int first = 0;
  return std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first ? first : kUsual;
}

/// The port to which a socket can be bound, if any: `port`, or one of the system's choice for 0.
std::optional<int> bound_port(int port) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), generic, size) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0)
    return std::nullopt;
  return ntohs(address.sin_port);
}

}  // namespace

int free_port(const std::function<bool(int)>& is_taken) {
  std::random_device source;
  std::uniform_int_distribution<int> any(kFirstPort, kLastPort);
  for (int attempt = 0; attempt < kAttempts && kLastPort < first_outgoing_port(); ++attempt) {
    const int port = any(source);
    if (!is_taken(port) && bound_port(port)) return port;
  }
  for (;;) {
    const std::optional<int> port = bound_port(0);
    if (!port) {
      throw RunError(
          fmt::format("no free port for a server: {}", std::generic_category().message(errno)));
    }
    if (!is_taken(*port)) return *port;
  }
}

LocalServer::LocalServer(const ServerOrder& order, Attempt attempt, const ServerAddress& address)
    : attempt_(std::move(attempt)),
      began_s_(monotonic_s()),
      ready_within_s_(order.settings.ready_within_s),
      probe_([] { return std::string(); }) {
  Placeholders values = order.values;
  values["host"] = address.host;
  values["port"] = fmt::format("{}", address.port);
  attempt_.environment["DOETUNE_HOST"] = values["host"];
  attempt_.environment["DOETUNE_PORT"] = values["port"];
  attempt_.arguments = fill_arguments(order.settings.set_up, "run.set_up", values);
  if (!order.settings.tear_down.empty()) {
    tear_down_ = command(order.settings.tear_down, "run.tear_down", values);
  }
  probe_ = ReadinessProbe(question(order, values));
  write_address(attempt_.directory, address);
}

Command LocalServer::command(const std::vector<std::string>& arguments, const char* key,
                             const Placeholders& values) const {
  Command command;
  command.arguments = fill_arguments(arguments, key, values);
  command.working_directory = attempt_.working_directory;
  command.environment = attempt_.environment;
  command.program = find_program(command.arguments.front(), command.working_directory,
                                 search_path(command.environment));
  command.time_limit_s = kCommand_s;
  return command;
}

ReadinessProbe::Question LocalServer::question(const ServerOrder& order,
                                               const Placeholders& values) const {
  const std::filesystem::path directory = attempt_.directory;
  const study::ServerSettings& settings = order.settings;
  if (!settings.ready_command.empty()) {
    const int port = std::atoi(values.at("port").c_str());
    return [asked = command(settings.ready_command, "run.ready", values), port, directory] {
      const std::string failure = failure_text(run_command(asked));
      return failure.empty() ? problem_of_listener(port, directory) : failure;
    };
  }
  const std::string filled = fill_arguments({settings.ready_address}, "run.ready", values).front();
  const auto address = parse_address(filled);
  if (!address) {
    throw RunError(fmt::format("run.ready: '{}' is not an address with a port", filled),
                   "run.ready");
  }
  return [address, directory] {
    std::string problem = problem_of_address(*address, kAnswer_s);
    if (!problem.empty() || !is_this_machine(address->host)) return problem;
    return problem_of_listener(std::atoi(address->port.c_str()), directory);
  };
}

double LocalServer::set_up_s() const { return monotonic_s() - began_s_; }

std::string LocalServer::overdue() const {
  if (set_up_s() < ready_within_s_) return "";
  return fmt::format("not ready within {:g} s: {}", ready_within_s_, probe_.problem());
}

bool LocalServer::may_outlive(const AttemptEnd& end) const {
  return has_tear_down() && end.cause == EndCause::kExited && end.exit_code == 0;
}

std::string LocalServer::tear_down() const {
  if (!tear_down_) return "";
  const std::string failure = failure_text(run_command(*tear_down_));
  return failure.empty() ? "" : fmt::format("run.tear_down: {}", failure);
}

}  // namespace doetune::runner
