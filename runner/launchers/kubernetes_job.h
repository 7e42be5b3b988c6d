// Maps one attempt to a Job of Kubernetes (API batch/v1).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/launchers/launcher.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// A text as a label value or as part of a name: letters, digits and '-', beginning and ending with
/// a letter or digit, in lower case (DNS-1123), at most `max` characters. If it had to be changed,
/// it ends with a hash of the text, so that different texts stay different.
std::string kubernetes_name(std::string_view text, std::size_t max = 63);

/// A name for the Job of an attempt, different on each call: a Job of an earlier study in the same
/// directory may still exist. At most 57 characters, since the names of pods are longer by six.
std::string new_job_name(const std::string& attempt);

/// Labels all Jobs of a study directory.
std::string study_selector(const std::filesystem::path& study);

/// Whether a path in the pods is on a volume that is shared with this machine and can be written.
bool is_shared(const std::filesystem::path& path, const study::KubernetesSettings& settings);

/// The Job as JSON for `kubectl create`. Kubernetes never starts its pod again, ends it some time
/// after the attempt's own limit, and forgets it a day after its end. If the study directory is not
/// shared, attempt, request and study file are arguments of doetune-attempt, and a volume of the
/// pod's own is at its place. Throws study::DirectoryError if the attempt's files cannot be read.
std::string job_manifest(const std::string& name, const Attempt& attempt,
                         const LauncherRequest& request);

/// The directory of the attempt, in an annotation of its Job.
inline constexpr const char* kDirectoryAnnotation = "doetune/directory";

/// `kubectl` with the study's options and these arguments.
std::vector<std::string> kubectl(const study::KubernetesSettings& settings,
                                 const std::vector<std::string>& arguments);

}  // namespace doetune::runner
