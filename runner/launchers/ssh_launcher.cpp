#include "runner/launchers/ssh_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runner/launchers/remote_program.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"

namespace doetune::runner {
namespace {

constexpr int kConnectionFailed = 255;  ///< ssh(1), "EXIT STATUS"
constexpr int kMaxFailures = 2;

}  // namespace

std::vector<HostCapacity> SshLauncher::capacities(const study::RunSettings& run,
                                                  const SlotOptions& options) const {
  if (run.ssh.hosts.empty()) {
    throw RunError("the launcher ssh needs run.ssh.hosts; write run: {ssh: {hosts: [name, ...]}}",
                   "run.ssh.hosts");
  }
  if (in_path("ssh").empty()) {
    throw RunError(
        "the launcher ssh needs ssh, which is not in PATH: install it (Debian: "
        "openssh-client)",
        "run.launcher");
  }
  if (!options.gpus.empty()) {
    throw RunError("--gpus selects GPUs of this machine; list those of each host in run.ssh.hosts");
  }
  attempt_program(run.ssh.program, "run.ssh.program");
  int left = options.jobs.value_or(run.jobs.value_or(std::numeric_limits<int>::max()));
  std::vector<HostCapacity> capacities;
  for (const study::SshHost& host : run.ssh.hosts) {
    HostCapacity capacity;
    capacity.host = host.name;
    capacity.jobs = std::min(host.jobs, left);
    capacity.gpus = host.gpus;
    capacity.runs_per_gpu = run.runs_per_gpu;
    left -= capacity.jobs;
    if (capacity.jobs > 0) capacities.push_back(std::move(capacity));
  }
  return capacities;
}

std::vector<std::string> SshLauncher::client(const Attempt& attempt) const {
  std::vector<std::string> arguments{"ssh",
                                     "-o",
                                     "BatchMode=yes",
                                     "-o",
                                     "ConnectTimeout=10",
                                     "-o",
                                     "ServerAliveInterval=15",
                                     "-o",
                                     "ServerAliveCountMax=4",
                                     "-T"};
  const auto& options = request_.run.ssh.options;
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto program = attempt_program(request_.run.ssh.program, "run.ssh.program");
  arguments.insert(arguments.end(),
                   {"--", attempt.host,
                    fmt::format("exec {} {}", study::shell_quoted(program.string()),
                                study::shell_quoted(attempt.directory.string()))});
  return arguments;
}

AttemptEnd SshLauncher::not_begun(const Attempt& attempt, const ClientAnswer& answer) {
  const std::string& host = attempt.host;
  AttemptEnd end;
  end.host = host;
  if (answer.answered && answer.status != kConnectionFailed) {
    end.cause = EndCause::kNotStarted;
    end.detail = fmt::format(
        "doetune-attempt did not start on {} (exit code {}): {}; it must be installed there, and "
        "the study directory must be at the same path",
        host, answer.status, answer.words());
    return end;
  }
  end.cause = EndCause::kLost;
  end.detail = fmt::format("ssh {}: {}", host, answer.words());
  last_words_ = end.detail;
  if (++failures_[host] >= kMaxFailures && closed_.insert(host).second && request_.note) {
    request_.note(
        fmt::format("host {} is not used any more: it could not be reached {} times in a row ({})",
                    host, kMaxFailures, answer.words()));
  }
  return end;
}

std::optional<std::vector<LauncherEvent>> SshLauncher::wait(double timeout_s, int wake) {
  const auto& hosts = request_.run.ssh.hosts;
  const bool none_left = std::all_of(hosts.begin(), hosts.end(), [&](const study::SshHost& host) {
    return closed_.count(host.name) > 0;
  });
  if (none_left && events_.empty()) {
    throw RunError(
        fmt::format("no host of run.ssh.hosts can be reached; the last error: {}", last_words_),
        "run.ssh.hosts");
  }
  return ClientLauncher::wait(timeout_s, wake);
}

}  // namespace doetune::runner
