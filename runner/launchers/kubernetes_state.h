// The state of Jobs and their pods, from `kubectl get jobs,pods -o json`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

/// A Job and its pod. Reasons and messages are those of Kubernetes.
struct KubernetesJob {
  std::string directory;    ///< of the attempt, as annotated
  bool over = false;        ///< complete or failed
  bool deleted = false;     ///< being deleted
  std::string reason;       ///< why it failed
  std::string pod;          ///< name; empty if there is none
  std::string node;         ///< of the pod; empty until it is scheduled
  std::string phase;        ///< of the pod: Pending, Running, Succeeded, Failed, Unknown
  std::string pod_reason;   ///< why the pod was ended from outside: Evicted, DeadlineExceeded, ...
  std::string waits_for;    ///< why its container does not run: ImagePullBackOff, ...
  std::string ended_with;   ///< why its container ended: OOMKilled, StartError, Error, Completed
  std::string message;      ///< of the pod or its container
  std::string unscheduled;  ///< why no node takes the pod
};

/// Jobs by name. Empty optional if the text is not such a list. Of several pods of a Job, the one
/// that is not over counts, or the newest.
std::optional<std::map<std::string, KubernetesJob>> parse_kubernetes(std::string_view text);

/// Whether nothing of it runs, nor will run.
bool is_over(const KubernetesJob& job);

/// Whether its pod waits for what will not happen by itself, such as an image that is not there.
bool never_starts(const KubernetesJob& job);

/// The end of an attempt that left no `exit`, and whose Job is over or would never start.
/// `claimed`: doetune-attempt began; `words`: its last message, may be empty; `image`: of the
/// study.
AttemptEnd end_without_exit(const KubernetesJob& job, bool claimed, const std::string& words,
                            const std::string& image);

}  // namespace doetune::runner
