// The launcher kubernetes: manifests, what kubectl prints, and results that come by a pod's log.
// Fields and reasons are those of Kubernetes' API reference (batch/v1 Job, v1 Pod):
// test_kubernetes_cluster.py runs it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runner/attempts/attempt_file.h"
#include "runner/attempts/printed_attempt.h"
#include "runner/launchers/kubernetes_job.h"
#include "runner/launchers/kubernetes_launcher.h"
#include "runner/launchers/kubernetes_state.h"
#include "runner/processes/run_error.h"
#include "study/files.h"
#include "tests/runner/fake_clients.h"
#include "tests/runner/launcher_events.h"

using namespace doetune;
using runner::Attempt;
using runner::AttemptEnd;
using runner::EndCause;
using runner::KubernetesJob;
using tests::wait_for;
using tests::wait_until;
using Json = nlohmann::ordered_json;

namespace {

Attempt attempt_in(const std::filesystem::path& directory) {
  Attempt attempt;
  attempt.name = "s.7.1";
  attempt.directory = directory;
  attempt.arguments = {"./bench"};
  attempt.time_limit_s = 100;
  attempt.stop_grace_s = 5;
  return attempt;
}

runner::LauncherRequest request_for(const std::filesystem::path& study) {
  runner::LauncherRequest request;
  request.study = "it's 50%j";
  request.directory = study;
  request.run.kubernetes.image = "registry/bench:1";
  return request;
}

/// A Job and its pod as `kubectl get jobs,pods -o json` prints them.
std::string listed(const Json& job_status, const Json& pod_status, const Json& pod_metadata = {}) {
  Json pod{{"kind", "Pod"}, {"status", pod_status}, {"spec", {{"nodeName", "n1"}}}};
  pod["metadata"] = {{"name", "j-abcde"}, {"labels", {{"job-name", "j"}}}};
  if (pod_metadata.is_object()) pod["metadata"].update(pod_metadata);
  Json job{{"kind", "Job"}, {"metadata", {{"name", "j"}}}, {"status", job_status}};
  Json list{{"kind", "List"}, {"items", Json::array({job})}};
  if (!pod_status.is_null()) list["items"].push_back(pod);
  return list.dump();
}

Json container(const char* state, const Json& detail) {
  Json status{{"name", "run"}};
  status["state"][state] = detail;
  return Json::array({status});
}

KubernetesJob job_in(const std::string& list) {
  const auto jobs = runner::parse_kubernetes(list);
  REQUIRE(jobs);
  return jobs->at("j");
}

}  // namespace

TEST_CASE("Names are valid for Kubernetes, and different texts have different names",
          "[runner][kubernetes]") {
  const std::string text =
      GENERATE("a", "fccd-7-1", "it's 50%j.7.1", "-", "", "ÄÖ", std::string(200, 'x'), "Upper");
  const std::string name = runner::kubernetes_name(text);
  CAPTURE(text, name);
  CHECK_THAT(name, Catch::Matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"));
  CHECK(name == runner::kubernetes_name(text));
  CHECK(name != runner::kubernetes_name(text + "."));
  CHECK(runner::kubernetes_name("fccd-7-1") == "fccd-7-1");
  const std::string job = runner::new_job_name(text);
  CHECK_THAT(job, Catch::Matches("[a-z0-9][-a-z0-9]{0,55}[a-z0-9]"));
  CHECK(job != runner::new_job_name(text));
}

TEST_CASE("The Job of an attempt with a shared directory", "[runner][kubernetes]") {
  Attempt attempt = attempt_in("/data/$(HOME)/s/runs/0007.1");
  attempt.gpus_wanted = 2;
  attempt.memory_limit_bytes = 3 << 20;
  auto request = request_for("/data/$(HOME)/s");
  auto& settings = request.run.kubernetes;
  request.run.cpus_per_run = 8;
  settings.volumes = {{"studies", "", {}, "/data", false}, {"", "", 1 << 30, "/dev/shm", false}};
  settings.tolerations = {"nvidia.com/gpu"};
  settings.node_selector = {{"gpu", "h100"}};
  settings.secrets = {"token"};
  const Json job = Json::parse(runner::job_manifest("j", attempt, request));
  CHECK(job["apiVersion"] == "batch/v1");
  CHECK(job["metadata"]["name"] == "j");
  CHECK(job["spec"]["backoffLimit"] == 0);
  CHECK(job["spec"]["ttlSecondsAfterFinished"] == 86400);
  const Json& pod = job["spec"]["template"]["spec"];
  CHECK(pod["restartPolicy"] == "Never");
  CHECK(pod["activeDeadlineSeconds"] == 100 + 5 + 900);
  CHECK(pod["terminationGracePeriodSeconds"] == 15);
  CHECK(pod["automountServiceAccountToken"] == false);
  CHECK(pod["nodeSelector"]["gpu"] == "h100");
  CHECK(pod["tolerations"] == Json::parse(R"([{"key":"nvidia.com/gpu","operator":"Exists"}])"));
  CHECK(pod["volumes"] == Json::parse(R"([
      {"persistentVolumeClaim": {"claimName": "studies"}, "name": "volume-0"},
      {"emptyDir": {"medium": "Memory", "sizeLimit": "1073741824"}, "name": "volume-1"}])"));
  const Json& container = pod["containers"].at(0);
  CHECK(container["image"] == "registry/bench:1");
  CHECK(container["command"] == Json::parse(R"(["doetune-attempt"])"));
  CHECK(container["args"] == Json::parse(R"(["/data/$$(HOME)/s/runs/0007.1"])"));
  CHECK(container["envFrom"] == Json::parse(R"([{"secretRef":{"name":"token"}}])"));
  CHECK(container["resources"] == Json::parse(R"({
      "limits": {"cpu": "8", "memory": "3145728", "nvidia.com/gpu": "2"},
      "requests": {"cpu": "8", "memory": "3145728"}})"));
  for (const auto& [name, value] : job["metadata"]["labels"].items()) {
    CAPTURE(name);
    CHECK(value.get<std::string>().size() <= 63);
  }
  CHECK(job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]);
  settings.resources = {{"nvidia.com/mig-1g.5gb", "1"}};
  const Json mig = Json::parse(runner::job_manifest("j", attempt, request));
  const Json& limits = mig["spec"]["template"]["spec"]["containers"].at(0)["resources"]["limits"];
  CHECK(limits.contains("nvidia.com/mig-1g.5gb"));
  CHECK_FALSE(limits.contains("nvidia.com/gpu"));
}

TEST_CASE("Without a shared directory the Job brings the attempt along", "[runner][kubernetes]") {
  tests::TemporaryDirectory temporary;
  const Attempt attempt = attempt_in(temporary / "runs/0007.1");
  std::filesystem::create_directories(attempt.directory);
  study::write_file_atomically(attempt.request(), R"x({"price": "$(x)"})x");
  runner::write_attempt(attempt);
  study::write_file_atomically(temporary / "study.yaml", "study: s\n");
  const auto request = request_for(temporary.path());
  const Json job = Json::parse(runner::job_manifest("j", attempt, request));
  const Json& pod = job["spec"]["template"]["spec"];
  const Json& arguments = pod["containers"].at(0)["args"];
  REQUIRE(arguments.size() == 5);
  CHECK(arguments.at(0) == "--print");
  CHECK(Json::parse(arguments.at(2).get<std::string>())["name"] == "s.7.1");
  CHECK(arguments.at(3) == R"x({"price": "$$(x)"})x");
  CHECK(pod["volumes"].at(0).contains("emptyDir"));
  CHECK(pod["containers"].at(0)["volumeMounts"].at(0)["mountPath"] == temporary.path().string());
  CHECK_FALSE(pod.contains("securityContext"));
}

TEST_CASE("A volume has the study if that is at or below its mount", "[runner][kubernetes]") {
  study::KubernetesSettings settings;
  settings.volumes = {{"studies", "", {}, "/data", false}};
  CHECK(runner::is_shared("/data/me/s", settings));
  CHECK(runner::is_shared("/data", settings));
  CHECK_FALSE(runner::is_shared("/database/s", settings));
  CHECK_FALSE(runner::is_shared("/data/../s", settings));
  settings.volumes[0].read_only = true;
  CHECK_FALSE(runner::is_shared("/data/me/s", settings));
}

TEST_CASE("How an attempt without an exit file ended, by what Kubernetes says of its pod",
          "[runner][kubernetes]") {
  struct Row {
    Json status;
    bool claimed;
    EndCause cause;
    std::string words;
  };
  const Json oom = container("terminated", {{"reason", "OOMKilled"}, {"exitCode", 137}});
  const Json failed = container("terminated", {{"reason", "Error"}, {"exitCode", 1}});
  const Json start = container("terminated", {{"reason", "StartError"},
                                              {"message", "exec: \"doetune-attempt\": not found"}});
  const Json pull = container(
      "waiting", {{"reason", "ImagePullBackOff"}, {"message", "Back-off pulling image \"i:1\""}});
  const Json secret = container("waiting", {{"reason", "CreateContainerConfigError"},
                                            {"message", "secret \"token\" not found"}});
  const auto row = GENERATE_COPY(values<Row>({
      {{{"phase", "Failed"}, {"reason", "Evicted"}, {"message", "low on memory"}},
       true,
       EndCause::kLost,
       "Evicted, low on memory"},
      {{{"phase", "Failed"}, {"reason", "NodeLost"}}, false, EndCause::kLost, "NodeLost"},
      {{{"phase", "Failed"}, {"reason", "UnexpectedAdmissionError"}},
       false,
       EndCause::kLost,
       "UnexpectedAdmissionError"},
      {{{"phase", "Failed"}, {"reason", "DeadlineExceeded"}}, true, EndCause::kTimeLimit, "limit"},
      {{{"phase", "Failed"}, {"containerStatuses", oom}}, true, EndCause::kMemory, "OOMKilled"},
      {{{"phase", "Failed"}, {"containerStatuses", failed}}, true, EndCause::kLost, "last words"},
      {{{"phase", "Failed"}, {"containerStatuses", start}},
       false,
       EndCause::kNotStarted,
       "in its PATH"},
      {{{"phase", "Pending"}, {"containerStatuses", pull}},
       false,
       EndCause::kNotStarted,
       "the image i:1 cannot be pulled"},
      {{{"phase", "Pending"}, {"containerStatuses", secret}},
       false,
       EndCause::kNotStarted,
       "secret \"token\" not found"},
  }));
  const KubernetesJob job = job_in(listed({}, row.status));
  CAPTURE(row.status.dump());
  CHECK((runner::is_over(job) || runner::never_starts(job)));
  const AttemptEnd end = runner::end_without_exit(job, row.claimed, "last words", "i:1");
  CHECK(end.cause == row.cause);
  CHECK(end.host == "n1");
  CHECK_THAT(end.detail, Catch::Contains(row.words));
}

TEST_CASE("A pod that waits, or is in a state never heard of, is waited for",
          "[runner][kubernetes]") {
  const Json creating = container("waiting", {{"reason", "ContainerCreating"}});
  const Json first_pull = container("waiting", {{"reason", "ErrImagePull"}});
  const Json status = GENERATE_COPY(values<Json>(
      {Json{{"phase", "Pending"}}, Json{{"phase", "Running"}}, Json{{"phase", "Unknown"}},
       Json{{"phase", "New"}}, Json{{"phase", "Pending"}, {"containerStatuses", creating}},
       Json{{"phase", "Pending"}, {"containerStatuses", first_pull}}, Json()}));
  const KubernetesJob job = job_in(listed({{"active", 1}}, status));
  CHECK_FALSE(runner::is_over(job));
  CHECK_FALSE(runner::never_starts(job));
}

TEST_CASE("A failed Job whose pod is gone is over", "[runner][kubernetes]") {
  const Json condition{{"type", "Failed"}, {"status", "True"}, {"reason", "BackoffLimitExceeded"}};
  const KubernetesJob job = job_in(listed({{"conditions", Json::array({condition})}}, {}));
  CHECK(runner::is_over(job));
  CHECK(runner::end_without_exit(job, true, "", "i").cause == EndCause::kLost);
}

TEST_CASE("Of several pods of a Job, the one that is not over counts", "[runner][kubernetes]") {
  Json list = Json::parse(listed({}, {{"phase", "Running"}}));
  Json evicted = list["items"][1];
  evicted["metadata"]["creationTimestamp"] = "2026-11-25T10:00:00Z";
  evicted["status"] = {{"phase", "Failed"}, {"reason", "Evicted"}};
  list["items"].push_back(evicted);
  CHECK(job_in(list.dump()).phase == "Running");
}

TEST_CASE("What is not kubectl's list is no answer", "[runner][kubernetes]") {
  const std::string text =
      GENERATE("", "no JSON", "[]", "{}", R"({"items": 1})", R"({"items": {}})", "null");
  CHECK_FALSE(runner::parse_kubernetes(text));
  CHECK(runner::parse_kubernetes(R"({"items": [1, {}, {"kind": "Job"}, {"kind": "Pod"}]})"));
}

TEST_CASE("The files of an attempt survive being printed", "[runner][kubernetes]") {
  tests::TemporaryDirectory there;
  tests::TemporaryDirectory here;
  const auto ran = there / "runs/0007.1";
  const auto stored = here / "runs/0007.1";
  std::filesystem::create_directories(ran);
  std::filesystem::create_directories(there / "conditions");
  std::filesystem::create_directories(stored);
  std::string output;
  for (int i = 0; i < 1000; ++i) output += "line \"ä€😀\" doetune {\"end\":1}\n";
  study::write_file_atomically(ran / "stdout", output);
  study::write_file_atomically(ran / "result.json", "{\"y\": 1}\n");
  study::write_file_atomically(there / "conditions/host-n1.json", "{}");
  AttemptEnd end;
  end.cause = EndCause::kExited;
  end.exit_code = 0;
  runner::write_end(ran, end);
  const std::string text = runner::printed_attempt(ran);

  SECTION("among other lines") {
    REQUIRE(runner::store_printed_attempt("other\ndoetune starts\n" + text + "more\n", stored));
    CHECK(study::read_file(stored / "stdout") == output);
    CHECK(study::read_file(stored / "result.json") == "{\"y\": 1}\n");
    CHECK(study::read_file(here / "conditions/host-n1.json") == "{}");
    CHECK(runner::read_end(stored)->exit_code == 0);
  }
  SECTION("not if something is missing or was changed") {
    const auto cut = text.size() / 2;
    for (const std::string& damaged :
         {text.substr(0, cut), text.substr(cut), std::string(), "doetune {\"end\": 1}\n" + text}) {
      CHECK_FALSE(runner::store_printed_attempt(damaged, stored));
    }
    CHECK(std::filesystem::is_empty(stored));
  }
  SECTION("lines that a container's log would split are not longer than it allows") {
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      CHECK(text.find('\n', begin) - begin < 16384);
    }
  }
}

TEST_CASE("A pod's log cannot write other files than an attempt's", "[runner][kubernetes]") {
  tests::TemporaryDirectory temporary;
  const auto there = temporary / "a/runs/0007.1";
  const auto stored = temporary / "b/runs/0007.1";
  std::filesystem::create_directories(there);
  std::filesystem::create_directories(temporary / "a/conditions");
  std::filesystem::create_directories(stored);
  runner::write_end(there, {});
  study::write_file_atomically(temporary / "a/conditions/a b.json", "{}");
  REQUIRE(runner::store_printed_attempt(runner::printed_attempt(there), stored));
  CHECK(std::filesystem::is_empty(temporary / "b/conditions"));
}

TEST_CASE("Telemetry that is too long for a log is thinned", "[runner][kubernetes]") {
  tests::TemporaryDirectory temporary;
  const auto ran = temporary / "a/runs/0007.1";
  const auto stored = temporary / "b/runs/0007.1";
  std::filesystem::create_directories(ran);
  std::filesystem::create_directories(stored);
  std::string table = "time,value\n";
  const std::string row = std::string(90, '1') + "\n";
  while (table.size() < 9 << 20) table += row;
  study::write_file_atomically(ran / "telemetry.csv", table);
  runner::write_end(ran, {});
  REQUIRE(runner::store_printed_attempt(runner::printed_attempt(ran), stored));
  const std::string thinned = study::read_file(stored / "telemetry.csv");
  CHECK(thinned.starts_with("time,value\n1"));
  CHECK(thinned.size() < 4 << 20);
  CHECK(thinned.size() > 2 << 20);
}

namespace {

/// A launcher whose kubectl lists no Jobs and answers `create` with these words.
struct Refusing {
  tests::FakeClients clients;
  tests::TemporaryDirectory temporary;
  Attempt attempt = attempt_in(temporary / "runs/0007.1");
  runner::LauncherRequest request = request_for(temporary.path());

  explicit Refusing(const std::string& words) {
    clients.client("kubectl",
                   "case \"$*\" in *create*) echo x >>$FAKE/created; cat $FAKE/words >&2; "
                   "exit 1;; *) echo '{\"items\": []}';; esac");
    clients.file("words", words + "\n");
    request.run.kubernetes.poll_s = 0.1;
    std::filesystem::create_directories(attempt.directory);
    study::write_file_atomically(attempt.request(), "{}");
    study::write_file_atomically(temporary / "study.yaml", "study: s\n");
  }
};

}  // namespace

TEST_CASE("What Kubernetes refuses is not started, in its words", "[runner][kubernetes]") {
  Refusing cluster("Error from server (Forbidden): quota exceeded");
  runner::KubernetesLauncher launcher(cluster.request);
  launcher.submit(cluster.attempt);
  const auto events = wait_for(launcher, 20);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].end);
  CHECK(events[0].end->cause == EndCause::kNotStarted);
  CHECK_THAT(events[0].end->detail, Catch::Contains("quota exceeded"));
}

TEST_CASE("A Job that the API server did not receive is created again", "[runner][kubernetes]") {
  // Words of kubectl 1.32 whose server goes away after it was asked for its API.
  Refusing cluster(
      "error: error when creating \"job.json\": Post \"http://127.0.0.1:1/apis/batch/v1\": "
      "dial tcp 127.0.0.1:1: connect: connection refused");
  runner::KubernetesLauncher launcher(cluster.request);
  launcher.submit(cluster.attempt);
  wait_until(launcher, [&] { return cluster.clients.text("created").size() > 2; });
  CHECK(cluster.clients.text("created").size() > 2);
}

TEST_CASE("A Job that the API server may have received is looked for, and not created again",
          "[runner][kubernetes]") {
  Refusing cluster("error: error when creating \"job.json\": Post \"http://127.0.0.1:1\": EOF");
  runner::KubernetesLauncher launcher(cluster.request);
  launcher.submit(cluster.attempt);
  const auto events = wait_for(launcher, 20);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].end);
  CHECK(events[0].end->cause == EndCause::kLost);
  CHECK(cluster.clients.text("created") == "x\n");
}
