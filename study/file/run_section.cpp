#include "study/file/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/nearest_name.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

constexpr int kMaxProcesses = 100000;

class RunReader {
 public:
  RunReader(const YAML::Node& node, const std::vector<doe::Factor>& factors,
            const std::filesystem::path& file)
      : node_(node), factors_(factors), file_(file) {}

  RunSettings read() const {
    RunSettings run;
    run.launcher = text_at(node_, "launcher", run.launcher);
    run.jobs = whole_at(node_, "jobs");
    run.timeout_s = seconds_at(node_, "timeout").value_or(run.timeout_s);
    run.stop_grace_s = seconds_at(node_, "stop_grace").value_or(run.stop_grace_s);
    run.retries = retries(node_["retries"]);
    run.retries.backoff_s = seconds_at(node_, "backoff").value_or(run.retries.backoff_s);
    run.on_failure = on_failure();
    if (text_at(node_, "outliers", "flag") == "rerun") run.outliers = Outliers::kRerun;
    run.hang_after_s = seconds_at(node_, "hang_after");
    read_measurement(run);
    run.end_early = end_early(node_["end_early"]);
    read_resources(run);
    run.expected_s = seconds_at(node_, "expected");
    read_environment(run);
    run.server = server();
    check_gpus_of_server(run);
    run.after_run = texts(node_["after_run"]);
    run.after_all = texts(node_["after_all"]);
    read_launchers(run);
    return run;
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const {
    fail_at(file_, node, message);
  }

  OnFailure on_failure() const {
    const std::string word = text_at(node_, "on_failure", "first-three");
    return word == "continue" ? OnFailure::kContinue
           : word == "stop"   ? OnFailure::kStop
                              : OnFailure::kFirstThree;
  }

  Retries retries(const YAML::Node& node) const {
    Retries retries;
    if (!node) return retries;
    if (node.IsScalar()) {
      const auto number = parse_number(node.Scalar());
      if (!number || *number != std::floor(*number) || *number < 0 || *number > 100) {
        fail(node, fmt::format("run.retries: expected an integer from 0 to 100, or {{failed, "
                               "timed_out, lost}}, found '{:.60}'",
                               node.Scalar()));
      }
      retries.failed = retries.timed_out = static_cast<int>(*number);
      return retries;
    }
    retries.failed = whole_at(node, "failed").value_or(retries.failed);
    retries.timed_out = whole_at(node, "timed_out").value_or(retries.timed_out);
    retries.lost = whole_at(node, "lost").value_or(retries.lost);
    return retries;
  }

  void read_measurement(RunSettings& run) const {
    run.repeats = whole_at(node_, "repeats").value_or(run.repeats);
    run.warmup_s = seconds_at(node_, "warmup");
    run.min_time_s = seconds_at(node_, "min_time");
    run.max_time_s = seconds_at(node_, "max_time");
    if (const YAML::Node given = node_["precision"]) {
      run.precision = parse_fraction(given.Scalar());
      if (!run.precision) {
        fail(given, fmt::format("run.precision: expected a fraction between 0 and 1, such as 1 % "
                                "or 0.01, found '{:.60}'",
                                given.Scalar()));
      }
    }
    if (run.min_time_s && run.max_time_s && *run.min_time_s > *run.max_time_s) {
      fail(node_["max_time"], fmt::format("run.max_time ({} s) is below run.min_time ({} s)",
                                          *run.max_time_s, *run.min_time_s));
    }
    for (const char* key : {"min_time", "max_time"}) {
      if (seconds_at(node_, key).value_or(0) <= run.timeout_s) continue;
      fail(node_[key], fmt::format("run.{}: is above the time limit of an attempt, run.timeout "
                                   "({} s)",
                                   key, run.timeout_s));
    }
    if (node_["telemetry"]) run.telemetry_hz = *parse_number(node_["telemetry"].Scalar());
  }

  static std::optional<EndEarlySettings> end_early(const YAML::Node& node) {
    if (!node || (node.IsScalar() && node.Scalar() == "false")) return std::nullopt;
    EndEarlySettings settings;
    if (node.IsScalar()) return settings;
    settings.confidence = number_at(node, "confidence").value_or(settings.confidence);
    settings.runs = whole_at(node, "runs").value_or(settings.runs);
    settings.after = number_at(node, "after").value_or(settings.after);
    return settings;
  }

  ServerSettings server() const {
    ServerSettings server;
    server.set_up = texts(node_["set_up"]);
    server.tear_down = texts(node_["tear_down"]);
    server.ready_within_s = seconds_at(node_, "ready_within").value_or(server.ready_within_s);
    for (const char* key : {"ready", "ready_within", "tear_down"}) {
      if (node_[key] && server.set_up.empty()) {
        fail(node_[key],
             fmt::format("run.{}: needs run.set_up, the command that starts the server", key));
      }
    }
    if (server.set_up.empty()) return server;
    const YAML::Node ready = node_["ready"];
    if (ready && ready.IsSequence()) {
      server.ready_command = texts(ready);
      if (server.ready_command.empty()) fail(ready, "run.ready: the list is empty");
    } else {
      server.ready_address = ready ? ready.Scalar() : default_address(server.set_up);
      check_address(server.ready_address);
    }
    return server;
  }

  /// A server that is given a port is ready when it accepts connections there.
  std::string default_address(const std::vector<std::string>& set_up) const {
    const auto has_port = [](const std::string& argument) {
      return argument.find("{port}") != std::string::npos;
    };
    if (std::any_of(set_up.begin(), set_up.end(), has_port)) return "tcp://{host}:{port}";
    fail(node_["set_up"],
         "run.set_up: say in run.ready when the server can be used, such as ready: "
         "http://{host}:8000/health; or pass {port} to the server, which is then ready when it "
         "accepts connections");
  }

  void check_address(const std::string& address) const {
    if (address.rfind("http://", 0) == 0 || address.rfind("tcp://", 0) == 0) return;
    fail(node_["ready"], fmt::format("run.ready: expected http://HOST:PORT/PATH, tcp://HOST:PORT, "
                                     "or a command as a list of arguments, such as [curl, -fsk, "
                                     "https://...]; found '{:.60}'",
                                     address));
  }

  /// A server holds its GPUs for a whole plot.
  void check_gpus_of_server(const RunSettings& run) const {
    const std::string& name = run.gpus_per_run.factor;
    if (run.server.set_up.empty() || name.empty()) return;
    const auto hard = [](const doe::Factor& factor) { return factor.hard_to_change; };
    const auto is_easy = [&](const doe::Factor& factor) {
      return factor.name == name && !factor.hard_to_change;
    };
    if (std::none_of(factors_.begin(), factors_.end(), hard) ||
        std::none_of(factors_.begin(), factors_.end(), is_easy)) {
      return;
    }
    fail(node_["gpus_per_run"],
         fmt::format("run.gpus_per_run: '{}' changes within a whole plot, whose server keeps its "
                     "GPUs; set hard_to_change: true for the factor",
                     name));
  }

  void read_environment(RunSettings& run) const {
    for (const auto& entry : node_["environment"]) {
      const std::string& name = entry.first.Scalar();
      if (name.empty() || name.find('=') != std::string::npos) {
        fail(entry.first,
             fmt::format("run.environment: '{:.60}' is not a variable name; write {{NAME: value}}",
                         name));
      }
      run.environment[name] = entry.second.Scalar();
    }
  }

  /// Reads and checks the sections of the launchers.
  void read_launchers(RunSettings& run) const {
    run.slurm = slurm(node_["slurm"]);
    if (run.slurm.time_limit_s.value_or(run.timeout_s) < run.timeout_s) {
      fail(node_["slurm"]["time"],
           fmt::format("run.slurm.time ({} s) is below run.timeout ({} s), the time limit of an "
                       "attempt",
                       *run.slurm.time_limit_s, run.timeout_s));
    }
    run.ssh = ssh(node_["ssh"]);
    run.spark = spark(node_["spark"]);
    run.kubernetes = kubernetes(node_["kubernetes"]);
    if (run.launcher == "kubernetes" && run.kubernetes.image.empty()) {
      fail(node_["launcher"],
           "run.launcher: kubernetes needs run.kubernetes.image; write run: {kubernetes: {image: "
           "REGISTRY/NAME:TAG}}");
    }
    if (run.launcher == "ssh" && run.ssh.hosts.empty()) {
      const YAML::Node hosts = node_["ssh"] ? node_["ssh"]["hosts"] : node_["launcher"];
      fail(hosts, "run.launcher: ssh needs run.ssh.hosts; write run: {ssh: {hosts: [name, ...]}}");
    }
  }

  void read_resources(RunSettings& run) const {
    if (const YAML::Node limit = node_["memory_limit"]) {
      run.memory_limit_bytes = parse_size(limit.Scalar());
      if (!run.memory_limit_bytes) {
        fail(limit, fmt::format(
                        "run.memory_limit: expected a size such as 8 GiB or 500 MB, found '{:.60}'",
                        limit.Scalar()));
      }
    }
    if (node_["gpus_per_run"]) run.gpus_per_run = count("gpus_per_run", 0, 1024);
    run.runs_per_gpu = whole_at(node_, "runs_per_gpu").value_or(run.runs_per_gpu);
    run.cpus_per_run = whole_at(node_, "cpus_per_run");
    if (node_["processes"]) run.processes = count("processes", 1, kMaxProcesses);
    run.ranks = text_at(node_, "ranks", run.ranks);
  }

  /// An integer, or "{factor}".
  Count count(const char* key, int minimum, int maximum) const {
    const YAML::Node node = node_[key];
    const std::string& given = node.Scalar();
    const auto number = parse_number(given);
    if (number && *number == std::floor(*number) && *number >= minimum && *number <= maximum) {
      return {static_cast<int>(*number), ""};
    }
    if (number || given.size() < 3 || given.front() != '{' || given.back() != '}') {
      fail(node, fmt::format("run.{}: expected an integer from {} to {}, or a factor as "
                             "\"{{name}}\", found '{:.60}'",
                             key, minimum, maximum, given));
    }
    const std::string name = given.substr(1, given.size() - 2);
    std::vector<std::string> names;
    for (const doe::Factor& factor : factors_) {
      if (factor.is_categorical()) continue;
      if (factor.name == name) return {0, name};
      names.push_back(factor.name);
    }
    fail(node, fmt::format("run.{}: '{:.60}' is not a numeric factor{}", key, name,
                           did_you_mean_or_list(name, names)));
  }

  SlurmSettings slurm(const YAML::Node& node) const {
    SlurmSettings slurm;
    slurm.partition = text_at(node, "partition", "");
    slurm.account = text_at(node, "account", "");
    slurm.gres = text_at(node, "gres", "");
    slurm.time_limit_s = seconds_at(node, "time");
    if (node) slurm.options = texts(node["options"]);
    slurm.nodes = whole_at(node, "nodes").value_or(slurm.nodes);
    slurm.max_queued = whole_at(node, "queued").value_or(slurm.max_queued);
    slurm.poll_s = seconds_at(node, "poll").value_or(slurm.poll_s);
    slurm.program = text_at(node, "program", "");
    slurm.stage = stage(node, "run.slurm.stage");
    return slurm;
  }

  SparkSettings spark(const YAML::Node& node) const {
    SparkSettings spark;
    spark.master = text_at(node, "master", "");
    if (node) spark.options = texts(node["options"]);
    spark.submit = text_at(node, "submit", "");
    spark.program = text_at(node, "program", "");
    return spark;
  }

  KubernetesSettings kubernetes(const YAML::Node& node) const {
    KubernetesSettings kubernetes;
    if (!node) return kubernetes;
    kubernetes.image = text_at(node, "image", "");
    for (const YAML::Node& volume : node["volumes"]) {
      kubernetes.volumes.push_back(kubernetes_volume(volume));
    }
    kubernetes.name_space = text_at(node, "namespace", "");
    kubernetes.options = texts(node["options"]);
    kubernetes.resources = words_by_name(node["resources"]);
    kubernetes.node_selector = words_by_name(node["node_selector"]);
    kubernetes.tolerations = texts(node["tolerations"]);
    kubernetes.secrets = texts(node["secrets"]);
    kubernetes.pull_secrets = texts(node["pull_secrets"]);
    kubernetes.service_account = text_at(node, "service_account", "");
    kubernetes.priority_class = text_at(node, "priority_class", "");
    kubernetes.program = text_at(node, "program", "");
    kubernetes.max_queued = whole_at(node, "queued").value_or(kubernetes.max_queued);
    kubernetes.poll_s = seconds_at(node, "poll").value_or(kubernetes.poll_s);
    return kubernetes;
  }

  KubernetesVolume kubernetes_volume(const YAML::Node& node) const {
    KubernetesVolume volume;
    volume.claim = text_at(node, "claim", "");
    volume.host_path = text_at(node, "host_path", "");
    volume.mount = text_at(node, "mount", volume.host_path);
    if (node["read_only"]) volume.read_only = node["read_only"].as<bool>();
    if (const YAML::Node size = node["memory"]) {
      volume.memory_bytes = parse_size(size.Scalar());
      if (!volume.memory_bytes) {
        fail(size, fmt::format("run.kubernetes.volumes: expected a size such as 8 GiB, found "
                               "'{:.60}'",
                               size.Scalar()));
      }
    }
    const int kinds = (volume.claim.empty() ? 0 : 1) + (volume.host_path.empty() ? 0 : 1) +
                      (volume.memory_bytes ? 1 : 0);
    if (kinds != 1) {
      fail(node, "run.kubernetes.volumes: a volume is one of claim, host_path and memory");
    }
    if (!std::filesystem::path(volume.mount).is_absolute()) {
      fail(node,
           "run.kubernetes.volumes: mount is the absolute path in the pods, such as mount: /data");
    }
    return volume;
  }

  std::map<std::string, std::string> words_by_name(const YAML::Node& node) const {
    std::map<std::string, std::string> words;
    for (const auto& entry : node) words[entry.first.Scalar()] = entry.second.Scalar();
    return words;
  }

  SshSettings ssh(const YAML::Node& node) const {
    SshSettings ssh;
    if (!node) return ssh;
    for (const YAML::Node& host : node["hosts"]) {
      ssh.hosts.push_back(ssh_host(host));
      const auto is_same = [&](const SshHost& other) {
        return other.name == ssh.hosts.back().name;
      };
      if (std::any_of(ssh.hosts.begin(), ssh.hosts.end() - 1, is_same)) {
        fail(host, fmt::format("run.ssh.hosts: '{:.60}' is listed twice; set its `jobs` to the "
                               "number of concurrent runs",
                               ssh.hosts.back().name));
      }
    }
    ssh.options = texts(node["options"]);
    ssh.program = text_at(node, "program", "");
    ssh.stage = stage(node, "run.ssh.stage");
    return ssh;
  }

  /// That of a launcher's section; `key` is its full name.
  std::optional<StageSettings> stage(const YAML::Node& launcher, const char* key) const {
    const YAML::Node node = launcher ? launcher["stage"] : launcher;
    if (!node) return std::nullopt;
    StageSettings stage{text_at(node, "to", ""), texts(node["files"])};
    const auto plain = [](unsigned char c) {
      return std::isalnum(c) != 0 || std::string_view("/._-+").find(c) != std::string_view::npos;
    };
    if (!stage.to.starts_with('/') || !std::all_of(stage.to.begin(), stage.to.end(), plain)) {
      fail(node["to"],
           fmt::format("{}.to: expected the absolute path of a folder on the machines of the "
                       "runs, of letters, digits and / . _ - +, found '{:.60}'",
                       key, stage.to));
    }
    for (const YAML::Node& file : node["files"]) {
      const std::filesystem::path path = file.Scalar();
      const bool leaves = std::find(path.begin(), path.end(), "..") != path.end();
      if (path.empty() || path.is_absolute() || leaves) {
        fail(file, fmt::format("{}.files: expected files and folders below that of the study file, "
                               "found '{:.60}'",
                               key, file.Scalar()));
      }
    }
    return stage;
  }

  SshHost ssh_host(const YAML::Node& node) const {
    SshHost host;
    const YAML::Node name = node.IsScalar() ? node : node["name"];
    host.name = name.Scalar();
    if (host.name.empty() || host.name.front() == '-') {  // ssh would take it as an option
      fail(name, fmt::format("run.ssh.hosts: '{:.60}' is not a host name", host.name));
    }
    if (node.IsScalar()) return host;
    host.jobs = whole_at(node, "jobs").value_or(host.jobs);
    host.gpus = texts(node["gpus"]);
    return host;
  }

  const YAML::Node& node_;
  const std::vector<doe::Factor>& factors_;
  const std::filesystem::path& file_;
};

/// A number and the unit after it.
std::pair<std::optional<double>, std::string> number_and_unit(const std::string& text) {
  const auto digits = text.find_last_of("0123456789.");
  if (digits == std::string::npos) return {};
  const auto unit_at = text.find_first_not_of(' ', digits + 1);
  return {parse_number(text.substr(0, digits + 1)),
          unit_at == std::string::npos ? "" : text.substr(unit_at)};
}

}  // namespace

RunSettings read_run(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                     const std::filesystem::path& file) {
  return node ? RunReader(node, factors, file).read() : RunSettings();
}

std::optional<std::int64_t> parse_size(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits{{
      {"", 1},
      {"B", 1},
      {"kB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"KiB", 1024.0},
      {"MiB", 1024.0 * 1024},
      {"GiB", 1024.0 * 1024 * 1024},
  }};
  const auto [number, unit] = number_and_unit(text);
  const auto known =
      std::find_if(kUnits.begin(), kUnits.end(),
                   [&, &name = unit](const auto& entry) { return entry.first == name; });
  if (!number || known == kUnits.end()) return std::nullopt;
  const double bytes = *number * known->second;
  if (!(bytes >= 1) || bytes > 1e15) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

std::optional<double> parse_fraction(const std::string& text) {
  const auto [number, unit] = number_and_unit(text);
  if (!number || (!unit.empty() && unit != "%")) return std::nullopt;
  const double fraction = unit == "%" ? *number / 100 : *number;
  if (!(fraction > 0) || fraction >= 1) return std::nullopt;
  return fraction;
}

}  // namespace doetune::study
