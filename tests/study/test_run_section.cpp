#include <catch2/catch.hpp>

#include "study/file/sections.h"

using namespace doetune;
using study::parse_study;

namespace {

study::RunSettings settings_of(const std::string& run) {
  return parse_study(
             "factors: {gpus: {low: 1, high: 4, type: integer}, net: {levels: [a, b]}}\n"
             "responses: {y: {}}\n" +
                 run,
             "s.yaml")
      .run;
}

std::string run_message(const std::string& run) {
  try {
    settings_of(run);
  } catch (const study::StudyError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("How runs are executed is read whole", "[study][run]") {
  const auto run = settings_of(R"(run:
  launcher: slurm
  jobs: 8
  retries: {failed: 2, timed_out: 0, lost: 5}
  backoff: 2 s
  on_failure: stop
  outliers: rerun
  hang_after: 5 min
  precision: 2 %
  min_time: 5 s
  max_time: 1 min
  gpus_per_run: "{gpus}"
  runs_per_gpu: 2
  cpus_per_run: 4
  memory_limit: 8 GiB
  processes: 4
  ranks: mpirun
  telemetry: 2.5
  after_run: [notify, "{run}"]
  after_all: [notify]
  slurm: {partition: gpu, account: lab, time: 2 h, options: [--exclusive], nodes: 2, queued: 20, poll: 1 s}
  ssh: {hosts: [n1, {name: n2, jobs: 2, gpus: [0, GPU-a]}], options: [-p, "2222"]}
)");
  CHECK(run.launcher == "slurm");
  CHECK(run.jobs == 8);
  CHECK(run.retries.failed == 2);
  CHECK(run.retries.timed_out == 0);
  CHECK(run.retries.lost == 5);
  CHECK(run.retries.backoff_s == 2);
  CHECK(run.on_failure == study::OnFailure::kStop);
  CHECK(run.outliers == study::Outliers::kRerun);
  CHECK(run.hang_after_s == 300);
  CHECK(run.precision == 0.02);
  CHECK(run.min_time_s == 5);
  CHECK(run.max_time_s == 60);
  CHECK(run.gpus_per_run.factor == "gpus");
  CHECK(run.runs_per_gpu == 2);
  CHECK(run.cpus_per_run == 4);
  CHECK(run.memory_limit_bytes == std::int64_t{8} << 30);
  REQUIRE(run.processes);
  CHECK(run.processes->fixed == 4);
  CHECK(run.ranks == "mpirun");
  CHECK(run.telemetry_hz == 2.5);
  CHECK(run.after_run == std::vector<std::string>{"notify", "{run}"});
  CHECK(run.after_all == std::vector<std::string>{"notify"});
  CHECK(run.slurm.partition == "gpu");
  CHECK(run.slurm.account == "lab");
  CHECK(run.slurm.time_limit_s == 7200);
  CHECK(run.slurm.options == std::vector<std::string>{"--exclusive"});
  CHECK(run.slurm.nodes == 2);
  CHECK(run.slurm.max_queued == 20);
  CHECK(run.slurm.poll_s == 1);
  REQUIRE(run.ssh.hosts.size() == 2);
  CHECK(run.ssh.hosts[0].name == "n1");
  CHECK(run.ssh.hosts[1].jobs == 2);
  CHECK(run.ssh.hosts[1].gpus == std::vector<std::string>{"0", "GPU-a"});
  CHECK(run.ssh.options == std::vector<std::string>{"-p", "2222"});
}

TEST_CASE("What the Jobs of Kubernetes are made of is read whole", "[study][run]") {
  const auto kubernetes = settings_of(R"(run:
  launcher: kubernetes
  kubernetes:
    image: registry/bench:1
    volumes:
    - {claim: studies, mount: /data}
    - {host_path: /scratch, read_only: true}
    - {memory: 8 GiB, mount: /dev/shm}
    namespace: tuning
    options: [--context, gpus]
    resources: {amd.com/gpu: 1}
    node_selector: {gpu: h100}
    secrets: [token]
    queued: 20
    poll: 1 s
)")
                              .kubernetes;
  CHECK(kubernetes.image == "registry/bench:1");
  REQUIRE(kubernetes.volumes.size() == 3);
  CHECK(kubernetes.volumes[0].claim == "studies");
  CHECK(kubernetes.volumes[0].mount == "/data");
  CHECK(kubernetes.volumes[1].mount == "/scratch");
  CHECK(kubernetes.volumes[1].read_only);
  CHECK(kubernetes.volumes[2].memory_bytes == std::int64_t{8} << 30);
  CHECK(kubernetes.name_space == "tuning");
  CHECK(kubernetes.options == std::vector<std::string>{"--context", "gpus"});
  CHECK(kubernetes.resources.at("amd.com/gpu") == "1");
  CHECK(kubernetes.node_selector.at("gpu") == "h100");
  CHECK(kubernetes.secrets == std::vector<std::string>{"token"});
  CHECK(kubernetes.max_queued == 20);
  CHECK(kubernetes.poll_s == 1);
}

TEST_CASE("One number of retries is for failures and time limits alike", "[study][run]") {
  const auto retries = settings_of("run: {retries: 4}\n").retries;
  CHECK(retries.failed == 4);
  CHECK(retries.timed_out == 4);
  CHECK(retries.lost == 3);
}

TEST_CASE("Runs are ended early only if the study says so", "[study][run]") {
  CHECK_FALSE(settings_of("").end_early);
  CHECK_FALSE(settings_of("run: {end_early: false}\n").end_early);
  CHECK(settings_of("run: {end_early: true}\n").end_early->confidence == 0.99);
  const auto given =
      settings_of("run: {end_early: {confidence: 0.9, runs: 8, after: 3}}\n").end_early;
  CHECK(given->confidence == 0.9);
  CHECK(given->runs == 8);
  CHECK(given->after == 3);
}

TEST_CASE("Mistakes in how runs are executed are pointed at", "[study][run]") {
  const auto [run, message] = GENERATE(table<std::string, std::string>({
      {"run: {retries: often}", "s.yaml:3:16: run.retries: expected an integer from 0 to 100"},
      {"run: {retries: {faled: 1}}", "did you mean 'failed'?"},
      {"run: {precision: 3}",
       "s.yaml:3:18: run.precision: expected a fraction between 0 and 1, such as 1 %"},
      {"run: {precision: 0 %}", "expected a fraction"},
      {"run: {min_time: 5 s, max_time: 1 s}",
       "s.yaml:3:32: run.max_time (1 s) is below run.min_time (5 s)"},
      {"run: {max_time: 1 h}", "above the time limit of an attempt"},
      {"run: {timeout: 5 s, min_time: 10 s}", "run.min_time: is above the time limit"},
      {"run: {memory_limit: 8 Gigs}", "expected a size such as 8 GiB"},
      {"run: {gpus_per_run: 1.5}", "expected an integer from 0 to 1024, or a factor"},
      {"run: {gpus_per_run: \"{gpsu}\"}", "did you mean 'gpus'?"},
      {"run: {gpus_per_run: \"{net}\"}", "'net' is not a numeric factor"},
      {"run: {processes: 0}", "from 1 to"},
      {"run: {end_early: {confidense: 0.9}}", "did you mean 'confidence'?"},
      {"run: {end_early: {confidence: 99}}", "expected a number from 0.5 to 0.9999"},
      {"run: {on_failure: halt}", "'halt' is not known"},
      {"run: {telemetry: 2000}", "expected a number from 0 to 1000"},
      {"run: {ssh: {hosts: [-oProxyCommand=x]}}", "is not a host name"},
      {"run: {launcher: ssh}", "s.yaml:3:17: run.launcher: ssh needs run.ssh.hosts"},
      {"run: {launcher: ssh, ssh: {hosts: []}}", ":3:35: run.launcher: ssh needs run.ssh.hosts"},
      {"run: {launcher: kubernetes}", "s.yaml:3:17: run.launcher: kubernetes needs"},
      {"run: {kubernetes: {image: i, volumes: [{claim: c, mount: data}]}}",
       ":3:40: run.kubernetes.volumes: mount is the absolute path"},
      {"run: {kubernetes: {image: i, volumes: [{claim: c, host_path: /d}]}}",
       "a volume is one of claim, host_path and memory"},
      {"run: {ssh: {hosts: [n1, n1]}}", ":3:25: run.ssh.hosts: 'n1' is listed twice"},
      {"run: {slurm: {time: 5 min}}", ":3:21: run.slurm.time (300 s) is below run.timeout (600 s)"},
      {"run: {environment: {A=B: 1}}", ":3:21: run.environment: 'A=B' is not a variable name"},
      {"run: {ssh: {options: [-v]}}", "hosts"},
      {"run: {slurm: {partiton: gpu}}", "did you mean 'partition'?"},
  }));
  CAPTURE(run);
  CHECK_THAT(run_message(run + "\n"), Catch::Contains(message));
}

TEST_CASE("What telemetry measures cannot be asked for without it", "[study][run]") {
  const std::string study =
      "factors: {a: {low: 1, high: 4}}\nresponses: {y: {}, z: {formula: y / power}}\n";
  CHECK_NOTHROW(parse_study(study, "s.yaml"));
  CHECK_THROWS_WITH(parse_study(study + "run: {telemetry: 0}\n", "s.yaml"),
                    Catch::Contains("s.yaml:3:18: run.telemetry: is 0"));
}

TEST_CASE("What to do about failures has three words", "[study][run]") {
  CHECK(settings_of("").on_failure == study::OnFailure::kFirstThree);
  CHECK(settings_of("run: {jobs: 2}").on_failure == study::OnFailure::kFirstThree);
  CHECK(settings_of("run: {on_failure: first-three}").on_failure == study::OnFailure::kFirstThree);
  CHECK(settings_of("run: {on_failure: continue}").on_failure == study::OnFailure::kContinue);
}

TEST_CASE("Sizes have decimal and binary units", "[study][run]") {
  CHECK(study::parse_size("8 GiB") == std::int64_t{8} << 30);
  CHECK(study::parse_size("1.5MB") == 1'500'000);
  CHECK(study::parse_size("4096") == 4096);
  for (const char* text : {"", "GiB", "0 GiB", "-1 GiB", "8 GB/s", "1e30", "nan"}) {
    CAPTURE(text);
    CHECK_FALSE(study::parse_size(text));
  }
}
