#include "runner/launchers/kubernetes_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "base/hash.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxNameStem = 48;
constexpr std::size_t kHashDigits = 8;
constexpr int kForgottenAfter_s = 86400;  ///< by then doetune has fetched what its log holds
/// For pulling the image, which counts, and for the end of doetune-attempt.
constexpr double kPodMargin_s = 900;
constexpr double kGraceMargin_s = 10;
constexpr const char* kGpu = "nvidia.com/gpu";

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Kubernetes replaces $(NAME) in arguments, and $$ by $.
std::string verbatim(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '$' ? "$$" : std::string(1, c);
  return quoted;
}

bool is_within(const fs::path& path, const fs::path& directory) {
  const fs::path relative = path.lexically_normal().lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

std::string bytes(std::int64_t number) { return fmt::format("{}", number); }

Json labels(const Attempt& attempt, const LauncherRequest& request) {
  return {{"app.kubernetes.io/managed-by", "doetune"},
          {"doetune/study", kubernetes_name(request.study)},
          {"doetune/attempt", kubernetes_name(attempt.name)},
          {"doetune/directory", text_hash(request.directory.lexically_normal().string())}};
}

Json resources(const Attempt& attempt, const study::RunSettings& run) {
  Json limits = Json::object();
  Json requests = Json::object();
  if (run.cpus_per_run) limits["cpu"] = fmt::format("{}", *run.cpus_per_run);
  requests["cpu"] = fmt::format("{}", run.cpus_per_run.value_or(1));
  if (attempt.memory_limit_bytes) {
    limits["memory"] = requests["memory"] = bytes(*attempt.memory_limit_bytes);
  }
  for (const auto& [name, amount] : run.kubernetes.resources) limits[name] = amount;
  if (run.kubernetes.resources.empty() && attempt.gpus_wanted > 0) {
    limits[kGpu] = fmt::format("{}", attempt.gpus_wanted);
  }
  return {{"limits", limits}, {"requests", requests}};
}

Json source_of(const study::KubernetesVolume& volume) {
  if (!volume.claim.empty()) {
    return {{"persistentVolumeClaim", {{"claimName", volume.claim}}}};
  }
  if (!volume.host_path.empty()) {
    return {{"hostPath", {{"path", volume.host_path}, {"type", "Directory"}}}};
  }
  return {{"emptyDir", {{"medium", "Memory"}, {"sizeLimit", bytes(*volume.memory_bytes)}}}};
}

/// The volumes of a pod and where they are mounted.
void add_volumes(const fs::path& study, const study::KubernetesSettings& settings, Json& pod,
                 Json& container) {
  Json volumes = Json::array();
  Json mounts = Json::array();
  const auto add = [&](Json source, const std::string& mount, bool read_only) {
    source["name"] = fmt::format("volume-{}", volumes.size());
    mounts.push_back({{"name", source["name"]}, {"mountPath", mount}, {"readOnly", read_only}});
    volumes.push_back(std::move(source));
  };
  for (const study::KubernetesVolume& volume : settings.volumes) {
    add(source_of(volume), volume.mount, volume.read_only);
  }
  if (!is_shared(study, settings)) add({{"emptyDir", Json::object()}}, study.string(), false);
  if (volumes.empty()) return;
  pod["volumes"] = std::move(volumes);
  container["volumeMounts"] = std::move(mounts);
}

Json arguments(const Attempt& attempt, const LauncherRequest& request) {
  const std::string directory = verbatim(attempt.directory.string());
  if (is_shared(request.directory, request.run.kubernetes)) return Json::array({directory});
  return Json::array({"--print", directory,
                      verbatim(study::read_file(attempt.directory / "attempt.json")),
                      verbatim(study::read_file(attempt.request())),
                      verbatim(study::read_file(request.directory / "study.yaml"))});
}

Json named(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return list;
}

Json container_of(const Attempt& attempt, const LauncherRequest& request) {
  const study::KubernetesSettings& settings = request.run.kubernetes;
  Json container{{"name", "run"},
                 {"image", settings.image},
                 {"args", arguments(attempt, request)},
                 {"resources", resources(attempt, request.run)}};
  container["command"].push_back(settings.program.empty() ? "doetune-attempt"
                                                          : verbatim(settings.program));
  container["env"].push_back(
      {{"name", kNodeVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", "spec.nodeName"}}}}}});
  for (const std::string& secret : settings.secrets) {
    container["envFrom"].push_back({{"secretRef", {{"name", secret}}}});
  }
  return container;
}

Json pod_of(const Attempt& attempt, const LauncherRequest& request) {
  const study::KubernetesSettings& settings = request.run.kubernetes;
  const double limit_s = attempt.time_limit_s + attempt.stop_grace_s + kPodMargin_s;
  Json container = container_of(attempt, request);
  Json pod{{"restartPolicy", "Never"},
           {"activeDeadlineSeconds", std::llround(limit_s)},
           {"terminationGracePeriodSeconds", std::llround(attempt.stop_grace_s + kGraceMargin_s)},
           {"enableServiceLinks", false},
           {"automountServiceAccountToken", false}};
  add_volumes(request.directory, settings, pod, container);
  pod["containers"] = Json::array({std::move(container)});
  if (is_shared(request.directory,
                settings)) {  // files belong to the user, as in the rest of the study
    pod["securityContext"] = {{"runAsUser", ::geteuid()}, {"runAsGroup", ::getegid()}};
  }
  if (!settings.node_selector.empty()) pod["nodeSelector"] = settings.node_selector;
  for (const std::string& key : settings.tolerations) {
    pod["tolerations"].push_back({{"key", key}, {"operator", "Exists"}});
  }
  if (!settings.pull_secrets.empty()) pod["imagePullSecrets"] = named(settings.pull_secrets);
  if (!settings.service_account.empty()) pod["serviceAccountName"] = settings.service_account;
  if (!settings.priority_class.empty()) pod["priorityClassName"] = settings.priority_class;
  return pod;
}

}  // namespace

std::string kubernetes_name(std::string_view text, std::size_t max) {
  std::string name(text);
  for (char& c : name) {
    c = is_plain(c) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  const auto first = std::find_if(name.begin(), name.end(), is_plain);
  name.erase(name.begin(), first);
  while (!name.empty() && !is_plain(name.back())) name.pop_back();
  if (!name.empty() && name == text && name.size() <= max) return name;
  const std::string hash = text_hash(text).substr(0, kHashDigits);
  name.resize(std::min(name.size(), max - kHashDigits - 1));
  return name.empty() ? hash : name + "-" + hash;
}

std::string new_job_name(const std::string& attempt) {
  std::random_device random;
  return fmt::format("{}-{:08x}", kubernetes_name(attempt, kMaxNameStem), random());
}

std::string study_selector(const fs::path& study) {
  return "doetune/directory=" + text_hash(study.lexically_normal().string());
}

bool is_shared(const fs::path& path, const study::KubernetesSettings& settings) {
  return std::any_of(settings.volumes.begin(), settings.volumes.end(), [&](const auto& volume) {
    return !volume.memory_bytes && !volume.read_only && is_within(path, volume.mount);
  });
}

std::string job_manifest(const std::string& name, const Attempt& attempt,
                         const LauncherRequest& request) {
  const Json marks = labels(attempt, request);
  Json job{{"apiVersion", "batch/v1"},
           {"kind", "Job"},
           {"metadata",
            {{"name", name},
             {"labels", marks},
             {"annotations", {{kDirectoryAnnotation, attempt.directory.string()}}}}}};
  job["spec"] = {
      {"backoffLimit", 0},  // retries are up to doetune
      {"ttlSecondsAfterFinished", kForgottenAfter_s},
      {"template", {{"metadata", {{"labels", marks}}}, {"spec", pod_of(attempt, request)}}}};
  return job.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<std::string> kubectl(const study::KubernetesSettings& settings,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"kubectl", "--request-timeout=15s"};
  if (!settings.name_space.empty()) command.push_back("--namespace=" + settings.name_space);
  command.insert(command.end(), settings.options.begin(), settings.options.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace doetune::runner
