#include "runner/launchers/kubernetes_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/launchers/kubernetes_job.h"
#include "runner/processes/output_text.h"

namespace doetune::runner {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxMessage = 300;

/// Reasons for which a container waits without end. ErrImagePull is not among them: it is followed
/// by ImagePullBackOff if the second attempt fails, too.
constexpr std::array<std::string_view, 7> kEndlessWaits{
    "ImagePullBackOff",     "InvalidImageName",  "ErrImageNeverPull", "CreateContainerConfigError",
    "CreateContainerError", "ImageInspectError", "RunContainerError"};

/// The value at a path of keys; null if there is none.
template <class... Keys>
Json at(const Json& object, const Keys&... keys) {
  const Json* found = &object;
  for (const char* key : {keys...}) {
    if (!found->is_object() || !found->contains(key)) return {};
    found = &(*found)[key];
  }
  return *found;
}

template <class... Keys>
std::string text_at(const Json& object, const Keys&... keys) {
  const Json found = at(object, keys...);
  return found.is_string() ? found.get<std::string>() : "";
}

std::string message_at(const Json& object) {
  return printable(text_at(object, "message").substr(0, kMaxMessage));
}

/// The condition of this type that holds; null otherwise.
Json condition(const Json& item, const char* type, const char* status = "True") {
  for (const Json& found : at(item, "status", "conditions")) {
    if (text_at(found, "type") == type && text_at(found, "status") == status) return found;
  }
  return {};
}

KubernetesJob job_from(const Json& item) {
  KubernetesJob job;
  job.directory = text_at(item, "metadata", "annotations", kDirectoryAnnotation);
  job.deleted = at(item, "metadata", "deletionTimestamp").is_string();
  const Json failed = condition(item, "Failed");
  job.over = !failed.is_null() || !condition(item, "Complete").is_null();
  job.reason = text_at(failed, "reason");
  return job;
}

void add_container(const Json& status, KubernetesJob& job) {
  const Json waiting = at(status, "state", "waiting");
  const Json terminated = at(status, "state", "terminated");
  job.waits_for = text_at(waiting, "reason");
  job.ended_with = text_at(terminated, "reason");
  if (job.message.empty()) job.message = message_at(waiting);
  if (job.message.empty()) job.message = message_at(terminated);
}

void add_pod(const Json& pod, KubernetesJob& job) {
  job.pod = text_at(pod, "metadata", "name");
  job.node = text_at(pod, "spec", "nodeName");
  job.phase = text_at(pod, "status", "phase");
  job.pod_reason = text_at(pod, "status", "reason");
  job.message = message_at(at(pod, "status"));
  const Json disruption = condition(pod, "DisruptionTarget");
  if (job.pod_reason.empty()) job.pod_reason = text_at(disruption, "reason");
  if (job.message.empty()) job.message = message_at(disruption);
  job.unscheduled = message_at(condition(pod, "PodScheduled", "False"));
  for (const Json& status : at(pod, "status", "containerStatuses")) add_container(status, job);
}

/// Orders the pods of a Job: those that are not over last, then by age.
std::pair<bool, std::string> rank(const Json& pod) {
  const std::string phase = text_at(pod, "status", "phase");
  return {phase != "Succeeded" && phase != "Failed", text_at(pod, "metadata", "creationTimestamp")};
}

AttemptEnd end_of(EndCause cause, const KubernetesJob& job, const std::string& what) {
  AttemptEnd end;
  end.cause = cause;
  end.host = job.node;
  end.detail = what;
  return end;
}

/// ": REASON, MESSAGE", of what is known.
std::string circumstances(const std::string& reason, const std::string& message) {
  if (reason.empty() && message.empty()) return "";
  return fmt::format(": {}{}{}", reason, reason.empty() || message.empty() ? "" : ", ", message);
}

AttemptEnd end_of_waiting(const KubernetesJob& job, const std::string& image) {
  const bool of_image = job.waits_for.find("Image") != std::string::npos;
  return end_of(
      EndCause::kNotStarted, job,
      of_image ? fmt::format("the image {} cannot be pulled{}; correct run.kubernetes.image, or "
                             "name the Secret for its registry in run.kubernetes.pull_secrets",
                             image, circumstances(job.waits_for, job.message))
               : fmt::format("the container of pod {} cannot be created{}", job.pod,
                             circumstances(job.waits_for, job.message)));
}

}  // namespace

std::optional<std::map<std::string, KubernetesJob>> parse_kubernetes(std::string_view text) {
  const Json list = Json::parse(text, nullptr, false);
  if (!at(list, "items").is_array()) return std::nullopt;
  std::map<std::string, KubernetesJob> jobs;
  std::map<std::string, Json> pods;
  for (const Json& item : list["items"]) {
    if (text_at(item, "kind") == "Job") {
      jobs.emplace(text_at(item, "metadata", "name"), job_from(item));
    } else if (text_at(item, "kind") == "Pod") {
      Json& pod = pods[text_at(item, "metadata", "labels", "job-name")];
      if (pod.is_null() || rank(pod) < rank(item)) pod = item;
    }
  }
  for (auto& [name, job] : jobs) {
    const auto pod = pods.find(name);
    if (pod != pods.end()) add_pod(pod->second, job);
  }
  return jobs;
}

bool is_over(const KubernetesJob& job) {
  return job.phase == "Succeeded" || job.phase == "Failed" || (job.over && job.phase.empty());
}

bool never_starts(const KubernetesJob& job) {
  return job.phase == "Pending" && std::find(kEndlessWaits.begin(), kEndlessWaits.end(),
                                             job.waits_for) != kEndlessWaits.end();
}

AttemptEnd end_without_exit(const KubernetesJob& job, bool claimed, const std::string& words,
                            const std::string& image) {
  if (never_starts(job)) return end_of_waiting(job, image);
  if (job.ended_with == "OOMKilled") {
    return end_of(EndCause::kMemory, job,
                  fmt::format("pod {} was ended over its memory limit (OOMKilled)", job.pod));
  }
  if (job.pod_reason == "DeadlineExceeded" || job.reason == "DeadlineExceeded") {
    return end_of(EndCause::kTimeLimit, job, "ended by Kubernetes at the time limit of its pod");
  }
  if (job.pod.empty()) {
    return end_of(EndCause::kLost, job, "its pod was deleted, not by doetune");
  }
  if (!job.pod_reason.empty()) {
    return end_of(EndCause::kLost, job,
                  fmt::format("pod {} was ended by Kubernetes{}", job.pod,
                              circumstances(job.pod_reason, job.message)));
  }
  const std::string said = words.empty() ? job.message : words;
  if (claimed) {
    return end_of(EndCause::kLost, job,
                  fmt::format("pod {} ended without a result{}", job.pod,
                              circumstances(job.ended_with, said)));
  }
  return end_of(EndCause::kNotStarted, job,
                fmt::format("doetune-attempt did not start in pod {}{}; the image needs it in its "
                            "PATH (or run.kubernetes.program), and the volume that has the study "
                            "directory the same path as here",
                            job.pod, circumstances(job.ended_with, said)));
}

}  // namespace doetune::runner
