#include "runner/launchers/ssh_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "runner/launchers/remote_program.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr int kConnectionFailed = 255;  ///< ssh(1), "EXIT STATUS"
constexpr int kMaxFailures = 2;

/// The words for a POSIX shell, or for what splits them like one.
std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + study::shell_quoted(word);
  }
  return line;
}

}  // namespace

SshLauncher::SshLauncher(LauncherRequest request) : ClientLauncher(std::move(request)) {
  if (request_.run.ssh.stage) stage_.emplace(*request_.run.ssh.stage, request_.directory);
}

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
  if (stage_) {
    require(stage_->files().empty() || !in_path("rsync").empty(),
            "run.ssh.stage copies files with rsync, which is not in PATH: install it here and on "
            "the hosts (Debian: rsync)",
            "run.ssh.stage");
    Stage::refuse_servers(run);
  }
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

void SshLauncher::submit(const Attempt& attempt) {
  if (!stage_) return ClientLauncher::submit(attempt);
  files_from_ = attempt.working_directory;
  ClientLauncher::submit(stage_->there(attempt));
}

std::optional<int> SshLauncher::start_client(const Attempt& attempt) {
  if (!stage_) return ClientLauncher::start_client(attempt);
  const std::string& host = attempt.host;
  waiting_[host].push_back(attempt);
  Copied& state = copied_[host];
  if (state == Copied::kNot && !stage_->files().empty()) {
    state = Copied::kUnderWay;
    commands_.start(copy(host), Stage::kCopy_s,
                    [this, host](const ClientAnswer& answer) { copied(host, answer); });
  } else if (state != Copied::kUnderWay) {
    start_waiting(host);
  }
  return std::nullopt;
}

void SshLauncher::start_waiting(const std::string& host) {
  for (const Attempt& attempt : std::exchange(waiting_[host], {})) {
    const auto answered = [this, attempt](ClientAnswer answer) {
      clients_.erase(attempt.name);
      Stage::store(answer, attempt);
      client_ended(attempt.name, answer);
    };
    clients_[attempt.name] =
        commands_.start(client(attempt), std::numeric_limits<double>::infinity(), answered);
  }
}

void SshLauncher::copied(const std::string& host, const ClientAnswer& answer) {
  Copied& state = copied_[host];
  if (answer.ok()) {
    state = Copied::kYes;
    if (request_.note) {
      request_.note(fmt::format("copied {} to {}:{}", fmt::join(stage_->files(), ", "), host,
                                stage_->files_folder()));
    }
    return start_waiting(host);
  }
  for (const Attempt& attempt : std::exchange(waiting_[host], {})) {
    client_ended(attempt.name, answer);
  }
  state = Copied::kNot;
}

void SshLauncher::dismiss(const Attempt& attempt) {
  std::erase_if(waiting_[attempt.host],
                [&](const Attempt& other) { return other.name == attempt.name; });
  const auto client = clients_.find(attempt.name);
  if (client == clients_.end()) return;
  commands_.stop(client->second);
  clients_.erase(client);
}

std::vector<std::string> SshLauncher::copy(const std::string& host) const {
  std::vector<std::string> arguments{
      "rsync", "--archive", "--relative", "--mkpath", "--rsh", shell_line(connection()), "--"};
  for (const std::string& file : stage_->files()) {
    arguments.push_back((files_from_ / "." / file).string());
  }
  arguments.push_back(fmt::format("{}:{}/", host, stage_->files_folder()));
  return arguments;
}

std::vector<std::string> SshLauncher::connection() const {
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
  return arguments;
}

std::vector<std::string> SshLauncher::client(const Attempt& attempt) const {
  std::vector<std::string> words{
      attempt_program(request_.run.ssh.program, "run.ssh.program").string()};
  if (stage_) {
    const std::vector<std::string> arguments = stage_->arguments(attempt);
    words.insert(words.end(), arguments.begin(), arguments.end());
  } else {
    words.push_back(attempt.directory.string());
  }
  std::vector<std::string> arguments = connection();
  arguments.insert(arguments.end(), {"--", attempt.host, "exec " + shell_line(words)});
  return arguments;
}

AttemptEnd SshLauncher::not_begun(const Attempt& attempt, const ClientAnswer& answer) {
  const std::string& host = attempt.host;
  AttemptEnd end;
  end.host = host;
  const bool copying = stage_ && !stage_->files().empty() && copied_[host] != Copied::kYes;
  if (copying && answer.status != kConnectionFailed) {
    end.cause = EndCause::kNotStarted;
    end.detail = fmt::format("the files of run.ssh.stage could not be copied to {}: {}", host,
                             answer.first_words());
    return end;
  }
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
