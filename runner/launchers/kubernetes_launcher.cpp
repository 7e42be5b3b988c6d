#include "runner/launchers/kubernetes_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/untrusted_json.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/command.h"
#include "runner/attempts/printed_attempt.h"
#include "runner/launchers/kubernetes_job.h"
#include "runner/processes/output_text.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;

constexpr int kCreationsAtOnce = 4;
constexpr double kMaxSettlement_s = 15;  ///< for a network file system to show what a node wrote
constexpr double kPollsOfWaiting = 6;    ///< a pod that waits so long is reported
constexpr double kLog_s = 60;
constexpr const char* kManifest = "job.json";

template <std::size_t size>
bool contains_any(const std::string& text, const std::array<const char*, size>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

bool is_credentials(const std::string& errors) {
  return contains_any(errors, std::array{"Unauthorized", "(Forbidden)",
                                         "forbidden:", "must be logged in", "getting credentials"});
}

/// Whether kubectl failed before the API server could receive the Job.
bool did_not_arrive(const ClientAnswer& answer) {
  return answer.answered &&
         contains_any(answer.errors, std::array{"dial tcp", "was refused - did you",
                                                "(TooManyRequests)", "(ServiceUnavailable)"});
}

/// Whether the API server, or kubectl, has said no. Anything else may have arrived all the same.
bool is_refused(const ClientAnswer& answer) {
  if (!answer.answered || answer.status == 0) return false;
  return answer.status == 127 || is_credentials(answer.errors) ||
         contains_any(answer.errors,
                      std::array{"(Invalid)", "(BadRequest)", "(NotFound)", "is invalid",
                                 "no matches for kind", "does not exist", "unknown flag"});
}

/// What kubectl says of a manifest, without the path of its file.
std::string refusal(const ClientAnswer& answer, const fs::path& manifest) {
  std::string words(last_line(answer.errors));
  const std::string file = fmt::format("error when creating \"{}\": ", manifest.string());
  if (const auto at = words.find(file); at != std::string::npos) words.erase(at, file.size());
  return words.empty() ? answer.words() : printable(words);
}

/// The name of the Job in a manifest; empty if there is none.
std::string job_in(const fs::path& attempt_directory) {
  const auto text = read_bounded(attempt_directory / kManifest, kMaxJsonBytes);
  const auto manifest = text ? parse_untrusted(*text) : std::nullopt;
  if (!manifest) return "";
  try {
    return manifest->at("metadata").at("name").get<std::string>();
  } catch (const nlohmann::json::exception&) {
    return "";
  }
}

ClientAnswer answer_of(const CommandResult& result) {
  ClientAnswer answer;
  answer.answered = result.exit_code.has_value();
  answer.status = result.exit_code.value_or(0);
  answer.output = result.output;
  answer.errors = result.errors;
  return answer;
}

/// Asks for the Jobs of the study, which shows whether there is a cluster that lets us.
void check_cluster(const std::vector<std::string>& question) {
  Command command{in_path("kubectl"), question};
  command.time_limit_s = kClusterAnswer_s;
  const ClientAnswer answer = answer_of(run_command(command));
  if (answer.ok()) return;
  if (is_credentials(answer.errors)) {
    throw RunError(
        fmt::format("Kubernetes refuses this user ({}): log in again, or ask for the rights to "
                    "create, list and delete Jobs and to list pods and read their logs",
                    answer.words()),
        "run.kubernetes");
  }
  throw RunError(fmt::format("the API server of Kubernetes does not answer ({}): check kubectl's "
                             "configuration (kubectl config view; KUBECONFIG), or name a cluster: "
                             "run: {{kubernetes: {{options: [--context, NAME]}}}}",
                             answer.words()),
                 "run.kubernetes");
}

}  // namespace

KubernetesLauncher::KubernetesLauncher(LauncherRequest request)
    : ClientLauncher(std::move(request)),
      shared_(is_shared(request_.directory, request_.run.kubernetes)),
      poll_(commands_,
            {"Kubernetes",
             call({"get", "jobs,pods", "--selector", study_selector(request_.directory),
                   "--output=json"}),
             request_.run.kubernetes.poll_s, request_.note,
             [this](const ClientAnswer& answer) { return read(answer); }, [this] { heard(); }}) {}

KubernetesLauncher::~KubernetesLauncher() {
  const double until_s = monotonic_s() + kClusterAnswer_s;
  for (delete_more(); (deleting_ || creating_ > 0) && monotonic_s() < until_s; delete_more()) {
    commands_.wait(until_s, -1);
  }
}

std::vector<std::string> KubernetesLauncher::call(const std::vector<std::string>& arguments) const {
  return kubectl(request_.run.kubernetes, arguments);
}

std::vector<HostCapacity> KubernetesLauncher::capacities(const study::RunSettings& run,
                                                         const SlotOptions& options) const {
  require(!in_path("kubectl").empty(),
          "the launcher kubernetes needs kubectl, which is not in PATH: install it (Debian: "
          "kubernetes-client)",
          "run.launcher");
  require(!run.kubernetes.image.empty(),
          "the launcher kubernetes needs run.kubernetes.image; write run: {kubernetes: {image: "
          "REGISTRY/NAME:TAG}}",
          "run.kubernetes.image");
  require(options.gpus.empty(),
          "--gpus is for launchers where doetune assigns GPUs; with kubernetes, Kubernetes does",
          "run.launcher");
  require(run.runs_per_gpu == 1 || !run.kubernetes.resources.empty(),
          "with kubernetes, only its device plugin can let runs share a GPU: instead of "
          "run.runs_per_gpu set run.kubernetes.resources, e.g. {nvidia.com/gpu.shared: 1}",
          "run.runs_per_gpu");
  require(shared_ || run.server.set_up.empty(),
          fmt::format("servers of whole plots need the study directory on a volume of the pods: "
                      "add a claim or host_path that is mounted at {}, or above it, to "
                      "run.kubernetes.volumes",
                      request_.directory.string()),
          "run.set_up");
  check_cluster(
      call({"get", "jobs", "--selector", study_selector(request_.directory), "--output=name"}));
  HostCapacity capacity;
  capacity.jobs = std::min(options.jobs.value_or(run.jobs.value_or(run.kubernetes.max_queued)),
                           run.kubernetes.max_queued);
  capacity.assigns_gpus = false;
  return {capacity};
}

void KubernetesLauncher::submit(const Attempt& given) {
  if (jobs_.count(given.name) > 0) return;
  Attempt attempt = given;
  if (!is_shared(attempt.working_directory, request_.run.kubernetes)) {
    attempt.working_directory.clear();  // that of the image
  }
  if (!prepare(attempt)) return;
  Job job{new_job_name(attempt.name), attempt.directory};
  try {
    study::write_file_durably(attempt.directory / kManifest,
                              job_manifest(job.name, attempt, request_));
  } catch (const study::DirectoryError& error) {
    AttemptEnd failed;
    failed.cause = EndCause::kNotStarted;
    failed.detail = error.what();
    return end(attempt.name, failed);
  }
  jobs_.emplace(attempt.name, std::move(job));
  to_create_.push_back(attempt.name);
  begin(attempt);
}

bool KubernetesLauncher::resume(const Attempt& attempt) {
  const std::string name = job_in(attempt.directory);
  if (name.empty()) return ClientLauncher::resume(attempt);  // kubectl was never called
  if (AttemptWatch(attempt.directory, attempt.heartbeat_s, monotonic_s()).fenced()) {
    remove(name);
    return false;
  }
  Job job{name, attempt.directory};
  job.created = true;
  jobs_.emplace(attempt.name, std::move(job));
  begin(attempt);
  poll_.ask_within(0);
  return true;
}

std::optional<std::vector<LauncherEvent>> KubernetesLauncher::wait(double timeout_s, int wake) {
  const double now_s = monotonic_s();
  if (!jobs_.empty() || !unwanted_.empty()) {
    poll_.ask_if_due(now_s);
    timeout_s = std::min(timeout_s, poll_.due_s() - now_s);
  }
  create_more();
  delete_more();
  auto events = ClientLauncher::wait(std::max(0.0, timeout_s), wake);
  if (events->empty() && poll_.silent()) return std::nullopt;
  return events;
}

void KubernetesLauncher::cancel(const std::string& attempt) {
  ClientLauncher::cancel(attempt);
  const auto found = jobs_.find(attempt);
  if (found != jobs_.end()) remove(found->second.name);  // doetune-attempt gets SIGTERM
}

void KubernetesLauncher::create_more() {
  if (poll_.silent() || monotonic_s() < create_due_s_) return;
  while (!to_create_.empty() && creating_ < kCreationsAtOnce) {
    const std::string attempt = to_create_.front();
    to_create_.pop_front();
    const auto found = jobs_.find(attempt);
    if (found == jobs_.end()) continue;  // cancelled in the meantime
    const std::string name = found->second.name;
    ++creating_;
    // Without --validate=false kubectl would fetch the schemas of the whole API each time.
    commands_.start(call({"create", "--validate=false", "--filename",
                          (found->second.directory / kManifest).string()}),
                    kClusterAnswer_s, [this, attempt, name](const ClientAnswer& answer) {
                      created(attempt, name, answer);
                    });
  }
}

void KubernetesLauncher::created(const std::string& attempt, const std::string& name,
                                 const ClientAnswer& answer) {
  --creating_;
  const auto found = jobs_.find(attempt);
  if (found == jobs_.end()) return remove(name);  // cancelled in the meantime
  Job& job = found->second;
  if (did_not_arrive(answer)) {
    to_create_.push_front(attempt);
    create_due_s_ = monotonic_s() + request_.run.kubernetes.poll_s;
    return poll_.ask_within(0);
  }
  job.created = true;
  if (is_refused(answer)) {
    job.refused = true;
    return give_up(attempt, job,
                   "Kubernetes refuses its Job: " + refusal(answer, job.directory / kManifest));
  }
  if (!answer.ok()) poll_.ask_within(0);  // the list will show its name, if it has arrived
}

bool KubernetesLauncher::read(const ClientAnswer& answer) {
  auto jobs = parse_kubernetes(answer.output);
  if (jobs) listed_ = std::move(*jobs);
  return jobs.has_value();
}

void KubernetesLauncher::heard() {
  std::vector<std::string> attempts;
  for (const auto& [attempt, job] : jobs_) attempts.push_back(attempt);
  for (const std::string& attempt : attempts) consider(attempt, jobs_.at(attempt));
  remove_ended();
  for (auto name = unwanted_.begin(); name != unwanted_.end();) {
    const auto listed = listed_.find(*name);
    const bool there = listed != listed_.end() && !listed->second.deleted;
    if (there) to_delete_.insert(*name);
    name = there ? std::next(name) : unwanted_.erase(name);
  }
}

void KubernetesLauncher::consider(const std::string& attempt, Job& job) {
  if (!job.created || !job.given_up.empty()) return;
  const auto listed = listed_.find(job.name);
  if (listed != listed_.end()) {
    job.missing_since_s.reset();
    job.seen = listed->second;
    note_waiting(attempt, job);
    return consider_over(attempt, job);
  }
  if (!job.missing_since_s) job.missing_since_s = poll_.asked_s();
  if (poll_.asked_s() - *job.missing_since_s < 2 * request_.run.kubernetes.poll_s) return;
  give_up(
      attempt, job,
      fmt::format("Kubernetes has no Job {} any more: it was deleted, not by doetune", job.name));
}

void KubernetesLauncher::consider_over(const std::string& attempt, Job& job) {
  const bool never = never_starts(job.seen);
  if (!is_over(job.seen) && !never) return job.over_since_s.reset();
  if (!job.over_since_s) job.over_since_s = monotonic_s();
  if (never && is_settled(job)) return client_ended(attempt, {});
  const bool has_log = !never && !job.seen.pod.empty();
  if (has_log && !job.log_read && (!shared_ || is_settled(job))) return read_log(attempt, job);
  if (is_settled(job) && (job.log_read || !has_log)) client_ended(attempt, {});
}

bool KubernetesLauncher::is_settled(const Job& job) const {
  const double settlement_s = std::min(kMaxSettlement_s, 3 * request_.run.kubernetes.poll_s);
  return job.over_since_s && monotonic_s() - *job.over_since_s >= settlement_s;
}

/// Reports what keeps pods from running: each kind of reason once, until another run has begun.
void KubernetesLauncher::note_waiting(const std::string& attempt, Job& job) {
  const KubernetesJob& seen = job.seen;
  if ((!seen.pod.empty() && seen.phase != "Pending") || is_over(seen)) {
    return job.waits_since_s.reset();
  }
  if (!job.waits_since_s) job.waits_since_s = monotonic_s();
  const double waited_s = monotonic_s() - *job.waits_since_s;
  if (waited_s < kPollsOfWaiting * request_.run.kubernetes.poll_s || !request_.note) return;
  const std::string kind = !seen.unscheduled.empty() ? "node" : seen.waits_for;
  if (!noted_.insert(kind).second) return;
  if (!seen.unscheduled.empty()) {
    return request_.note(fmt::format("{} waits: Kubernetes finds no node for its pod: {}", attempt,
                                     seen.unscheduled));
  }
  const std::string what = seen.pod.empty() ? "job " + job.name : "pod " + seen.pod;
  request_.note(fmt::format("{} waits{}; `kubectl describe {}` says why", attempt,
                            seen.pod.empty()         ? ": Kubernetes has made no pod for it"
                            : seen.waits_for.empty() ? ""
                                                     : ": " + seen.waits_for,
                            what));
}

void KubernetesLauncher::read_log(const std::string& attempt, Job& job) {
  if (std::exchange(job.reading_log, true)) return;
  commands_.start(call({"logs", job.seen.pod, "--tail=-1"}), kLog_s,
                  [this, attempt](const ClientAnswer& answer) { log_was_read(attempt, answer); });
}

/// Without a shared directory, the log has the attempt's files; otherwise only words.
void KubernetesLauncher::log_was_read(const std::string& attempt, const ClientAnswer& answer) {
  const auto found = jobs_.find(attempt);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  job.reading_log = false;
  if (!shared_ && answer.ok() && store_printed_attempt(answer.output, job.directory)) {
    job.log_read = true;
    return;
  }
  if (!is_settled(job)) return;  // it is read again
  job.log_read = true;
  if (!shared_) job.log_problem = answer.ok() ? "it is not complete" : answer.words();
  if (answer.ok()) job.words = printable(last_line(answer.output));
  client_ended(attempt, answer);
}

/// To be called if the attempt has no Job. One that has begun goes on as long as its heartbeat.
void KubernetesLauncher::give_up(const std::string& attempt, Job& job, std::string why) {
  job.given_up = std::move(why);
  ClientAnswer answer;
  answer.answered = true;
  answer.errors = job.given_up;
  client_ended(attempt, answer);
}

AttemptEnd KubernetesLauncher::not_begun(const Attempt& attempt, const ClientAnswer&) {
  const Job& job = jobs_.at(attempt.name);
  AttemptEnd end;
  if (!job.given_up.empty()) {
    end.cause = job.refused ? EndCause::kNotStarted : EndCause::kLost;
    end.detail = job.given_up;
    return end;
  }
  end = end_without_exit(job.seen, false, job.words, request_.run.kubernetes.image);
  const bool had_result = end.cause == EndCause::kNotStarted && job.seen.phase == "Succeeded";
  if (!job.log_problem.empty() && had_result) {
    end.cause = EndCause::kLost;
    end.detail = fmt::format("the log of pod {}, which has the result, cannot be read: {}",
                             job.seen.pod, job.log_problem);
  }
  return end;
}

std::optional<AttemptEnd> KubernetesLauncher::known_end(const Attempt& attempt) {
  const auto found = jobs_.find(attempt.name);
  if (found == jobs_.end() || !is_settled(found->second)) return std::nullopt;
  const Job& job = found->second;
  return end_without_exit(job.seen, true, job.words, request_.run.kubernetes.image);
}

void KubernetesLauncher::dismiss(const Attempt& attempt) {
  const auto found = jobs_.find(attempt.name);
  if (found == jobs_.end()) return;
  if (!found->second.refused) remove(found->second.name);
  jobs_.erase(found);
}

void KubernetesLauncher::remove(const std::string& name) {
  unwanted_.insert(name);
  to_delete_.insert(name);
}

/// Jobs whose attempts ended while no doetune was there to delete them. Other studies may have had
/// this directory: the attempt's own file decides.
void KubernetesLauncher::remove_ended() {
  for (const auto& [name, job] : listed_) {
    if (!is_over(job) || job.deleted || unwanted_.count(name) > 0) continue;
    if (job_in(job.directory) == name && read_end(job.directory)) remove(name);
  }
}

void KubernetesLauncher::delete_more() {
  if (to_delete_.empty() || deleting_) return;
  std::vector<std::string> arguments{"delete", "jobs", "--ignore-not-found", "--wait=false"};
  for (const std::string& name : std::exchange(to_delete_, {})) arguments.push_back(name);
  deleting_ = true;
  commands_.start(call(arguments), kClusterAnswer_s, [this](const auto&) { deleting_ = false; });
}

}  // namespace doetune::runner
