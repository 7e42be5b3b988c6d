// Recorded conditions: hidden secrets, values found, and identity of conditions.
#include <fmt/format.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "runner/attempts/command.h"
#include "runner/conditions/checkup.h"
#include "runner/conditions/conditions.h"
#include "runner/conditions/environment.h"
#include "runner/conditions/host.h"
#include "tests/runner/fake_nvml.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Json = nlohmann::ordered_json;
using runner::FindingLevel;
using runner::MachineState;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

/// Sets an environment variable during its lifetime.
struct Variable {
  const char* name;
  Variable(const char* its_name, const char* value) : name(its_name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name); }
};

/// Conditions of a machine without problems.
Json good_conditions() {
  return {{"cpu", {{"governor", "performance"}, {"usable", 8}}},
          {"memory", {{"total_bytes", 64e9}}},
          {"limits", {{"memory_bytes", nullptr}, {"cpus", nullptr}}},
          {"gpu_driver", {{"version", "550"}, {"problem", nullptr}}},
          {"gpus",
           {{{"index", 0},
             {"persistence", true},
             {"compute_mode", "default"},
             {"mig", false},
             {"instances", Json::array()},
             {"now", {{"processes", Json::array()}}}}}}};
}

MachineState good_state() {
  MachineState state;
  state.cpu_busy_fraction = 0.01;
  state.swap_used_bytes = 0;
  state.disk_free_bytes = 100e9;
  state.clock_synchronised = true;
  state.programs = {{"git", true}, {"sbatch", true}, {"ssh", true}, {"mpirun", true}};
  return state;
}

}  // namespace

TEST_CASE("Secrets are known by their names", "[conditions]") {
  for (const char* name : {"GITHUB_TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "db_password",
                           "MYSQL_PWD", "PGPASSFILE", "OPENAI_API_KEY", "SSH_AUTH_SOCK",
                           "GOOGLE_APPLICATION_CREDENTIALS", "COOKIE_JAR", "XDG_SESSION_ID"}) {
    CAPTURE(name);
    CHECK(runner::may_be_secret(name, "value"));
  }
  for (const char* name : {"PATH", "HOME", "PWD", "OLDPWD", "OMP_NUM_THREADS", "LD_LIBRARY_PATH",
                           "CUDA_HOME", "LANG"}) {
    CAPTURE(name);
    CHECK_FALSE(runner::may_be_secret(name, "value"));
  }
}

TEST_CASE("Secrets are known by their values", "[conditions]") {
  for (const char* value :
       {"https://user:hunter2@example.org/path", "https://token@example.org",
        "pip --index-url=http://a:b@host/simple", "ghp_0123456789abcdef", "sk-abcdef", "hf_abc",
        "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOi", "-----BEGIN RSA PRIVATE KEY-----"}) {
    CAPTURE(value);
    CHECK(runner::may_be_secret("INNOCENT", value));
  }
  for (const char* value : {"https://example.org/a@b", "https://example.org", "user@example.org",
                            "/opt/cuda", "", "://", "8"}) {
    CAPTURE(value);
    CHECK_FALSE(runner::may_be_secret("INNOCENT", value));
  }
}

TEST_CASE("Names of secrets are kept, their values nowhere", "[conditions]") {
  const Variable token("MY_SERVICE_TOKEN", "inherited-hunter2");
  const tests::TemporaryDirectory temporary;
  const Json conditions = runner::read_conditions(
      temporary / "", {{"DATABASE_URL", "postgres://me:set-hunter2@db/x"}, {"BATCH", "8"}});
  CHECK(conditions["environment"]["set"]["DATABASE_URL"] == "(hidden)");
  CHECK(conditions["environment"]["set"]["BATCH"] == "8");
  CHECK(conditions["environment"]["inherited"]["MY_SERVICE_TOKEN"] == "(hidden)");
  CHECK(conditions.dump().find("hunter2") == std::string::npos);
}

TEST_CASE("Text that is no UTF-8, or very long, can be written down all the same", "[conditions]") {
  const Variable odd("ODD_NAME", "a\xff\xfe");
  const Variable lengthy("LENGTHY", std::string(100000, 'x').c_str());
  const tests::TemporaryDirectory temporary;
  const Json conditions = runner::read_conditions(temporary / "", {});
  CHECK_NOTHROW(conditions.dump());
  CHECK(conditions["environment"]["inherited"]["LENGTHY"].get<std::string>().size() == 1003);
}

TEST_CASE("Conditions that are the same have the same name", "[conditions]") {
  const tests::TemporaryDirectory temporary;
  nlohmann::json machine{{"driver", "550.54.15"}, {"gpus", {tests::busy_gpu("GPU-1")}}};
  const auto name = [&](const std::map<std::string, std::string>& environment) {
    const tests::FakeNvml fake(machine);
    return runner::read_conditions(temporary / "", environment)["conditions_id"].get<std::string>();
  };
  const std::string first = name({{"N", "1"}, {"DOETUNE_RESULT", "runs/1"}});
  CHECK(first.size() == 16);
  CHECK(name({{"N", "1"}, {"DOETUNE_RESULT", "runs/2"}, {"CUDA_VISIBLE_DEVICES", "3"}}) == first);
  CHECK(name({{"N", "2"}}) != first);
  {
    const Variable unrelated("SOME_TERMINAL", "x");
    CHECK(name({{"N", "1"}}) == first);
    const Variable related("OMP_NUM_THREADS", "3");
    CHECK(name({{"N", "1"}}) != first);
  }
  machine["gpus"][0]["sm_clock"] = 345;  // a momentary value
  machine["gpus"][0]["processes"] = {1, 2, 3};
  CHECK(name({{"N", "1"}}) == first);
  machine["gpus"][0]["power_limit_mW"] = 500000;
  CHECK(name({{"N", "1"}}) != first);
}

TEST_CASE("GPUs are recorded with the driver's words", "[conditions]") {
  const tests::TemporaryDirectory temporary;
  const tests::FakeNvml fake(nlohmann::json{
      {"driver", "550.54.15"}, {"cuda", 12040}, {"gpus", {tests::busy_gpu("GPU-1")}}});
  const Json conditions = runner::read_conditions(temporary / "", {});
  CHECK(conditions["gpu_driver"]["version"] == "550.54.15");
  CHECK(conditions["gpu_driver"]["cuda"] == "12.4");
  CHECK(conditions["gpu_driver"]["problem"].is_null());
  CHECK(conditions["gpus"][0]["uuid"] == "GPU-1");
  CHECK(conditions["gpus"][0]["power_limit_W"] == 700.0);
  CHECK(conditions["gpus"][0]["persistence"] == true);
  CHECK(conditions["gpus"][0]["now"]["sm_clock_MHz"] == 1755);
  CHECK(conditions["gpus"][0]["now"]["processes"] == Json{4711});
}

TEST_CASE("The revision of the working directory is git's", "[conditions]") {
  const std::filesystem::path git = "/usr/bin/git";
  if (!std::filesystem::exists(git)) return;
  const tests::TemporaryDirectory temporary;
  const auto run = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"git", "-c", "user.name=a", "-c", "user.email=a@b"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return runner::run_command({git, all, {}, temporary / "", 20}).output;
  };
  const auto source = [&] { return runner::read_conditions(temporary / "", {})["source"]; };
  CHECK(source()["revision"].is_null());
  CHECK(source()["dirty"].is_null());
  run({"init", "-q"});
  CHECK(source()["revision"].is_null());  // no commit
  write(temporary / "file", "1");
  run({"add", "file"});
  run({"commit", "-qm", "first"});
  const std::string head = run({"rev-parse", "HEAD"}).substr(0, 40);
  CHECK(source()["revision"] == head);
  CHECK(source()["dirty"] == false);
  write(temporary / "file", "2");
  CHECK(source()["dirty"] == true);
}

TEST_CASE("The machine is described from its files", "[conditions]") {
  const tests::TemporaryDirectory temporary;
  const auto root = temporary / "";
  write(root / "etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  write(root / "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\n");
  write(root / "proc/stat", "cpu  1 2\ncpu0 1 2\ncpu1 1 2\ncpu5 1 2\nintr 5\n");
  write(root / "proc/meminfo", "MemTotal:    1000 kB\nSwapTotal:   10 kB\n");
  write(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  write(root / "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  write(root / "run/.containerenv", "");
  const Json system = runner::system_conditions(root, {});
  CHECK(system["distribution"] == "Debian GNU/Linux 12 (bookworm)");
  CHECK(system["container"] == "podman");
  CHECK(runner::system_conditions(root, {{"APPTAINER_CONTAINER", "x"}})["container"] ==
        "apptainer");
  const Json cpu = runner::cpu_conditions(root);
  CHECK(cpu["model"] == "AMD EPYC 9654");
  CHECK(cpu["count"] == 3);
  CHECK(cpu["governor"] == "powersave");
  CHECK(cpu["turbo"] == "off");
  CHECK(runner::memory_conditions(root)["total_bytes"] == 1024000);
  const Json nothing = runner::cpu_conditions(root / "nowhere");
  CHECK(nothing["model"].is_null());
  CHECK(nothing["governor"].is_null());
  CHECK(nothing["turbo"].is_null());
}

TEST_CASE("The tightest limit of control groups counts", "[conditions]") {
  const tests::TemporaryDirectory temporary;
  const auto root = temporary / "";
  SECTION("version 2") {
    write(root / "proc/self/cgroup", "0::/system.slice/job.scope\n");
    write(root / "sys/fs/cgroup/system.slice/memory.max", "2000000\n");
    write(root / "sys/fs/cgroup/system.slice/job.scope/memory.max", "max\n");
    write(root / "sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
    write(root / "sys/fs/cgroup/system.slice/job.scope/cpu.max", "150000 100000\n");
  }
  SECTION("version 1") {
    write(root / "proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n");
    write(root / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write(root / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n");
    write(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    write(root / "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
    write(root / "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  }
  const Json limits = runner::limit_conditions(root);
  CHECK(limits["memory_bytes"] == 2000000);
  CHECK(limits["cpus"] == 1.5);
}

TEST_CASE("Without control groups there are no limits", "[conditions]") {
  const tests::TemporaryDirectory temporary;
  const Json limits = runner::limit_conditions(temporary / "");
  CHECK(limits["memory_bytes"].is_null());
  CHECK(limits["cpus"].is_null());
}

TEST_CASE("Libraries are known by the versions in their names, the loader's first one first",
          "[conditions]") {
  const tests::TemporaryDirectory temporary;
  write(temporary / "a/libcudart.so.12.4.127", "");
  std::filesystem::create_symlink("libcudart.so.12.4.127", temporary / "a/libcudart.so.12");
  write(temporary / "b/libcudart.so.11.8.89", "");
  std::filesystem::create_symlink("libcudart.so.11.8.89", temporary / "b/libcudart.so");
  write(temporary / "b/libnccl.so.2.21.5", "");
  std::filesystem::create_symlink("libnccl.so.2.21.5", temporary / "b/libnccl.so.2");
  const Json found = runner::library_conditions({temporary / "a", temporary / "b"});
  CHECK(found["libcudart"] == "12.4.127");
  CHECK(found["libnccl"] == "2.21.5");
  CHECK(found["libcudnn"].is_null());
  const auto directories = runner::library_directories({{"LD_LIBRARY_PATH", "/x::/y"}});
  CHECK(directories[0] == "/x");
  CHECK(directories[1] == "/y");
}

TEST_CASE("A machine in good order has no findings", "[conditions][doctor]") {
  CHECK(runner::findings(good_conditions(), good_state()).empty());
}

TEST_CASE("Each thing amiss is found, with a remedy", "[conditions][doctor]") {
  struct Case {
    const char* what;
    FindingLevel level;
    std::function<void(Json&, MachineState&)> spoil;
  };
  const std::vector<Case> cases{
      {"NVML cannot be opened", FindingLevel::kOptional,
       [](Json& c, MachineState&) {
         c["gpu_driver"] = {{"version", nullptr}, {"problem", "NVML cannot be opened"}};
       }},
      {"GPU is lost", FindingLevel::kProblem,
       [](Json& c, MachineState&) { c["gpu_driver"]["problem"] = "GPU is lost"; }},
      {"persistence mode is off", FindingLevel::kDoubtful,
       [](Json& c, MachineState&) { c["gpus"][0]["persistence"] = false; }},
      {"no program can use it", FindingLevel::kProblem,
       [](Json& c, MachineState&) { c["gpus"][0]["compute_mode"] = "prohibited"; }},
      {"no instance", FindingLevel::kProblem,
       [](Json& c, MachineState&) { c["gpus"][0]["mig"] = true; }},
      {"processes 7, 8", FindingLevel::kDoubtful,
       [](Json& c, MachineState&) {
         c["gpus"][0]["now"]["processes"] = {7, 8};
       }},
      {"23 % of the processors", FindingLevel::kDoubtful,
       [](Json&, MachineState& s) { s.cpu_busy_fraction = 0.23; }},
      {"is powersave", FindingLevel::kDoubtful,
       [](Json& c, MachineState&) { c["cpu"]["governor"] = "powersave"; }},
      {"1.5 of 8 processors", FindingLevel::kDoubtful,
       [](Json& c, MachineState&) { c["limits"]["cpus"] = 1.5; }},
      {"limits memory to 1.0 GiB", FindingLevel::kDoubtful,
       [](Json& c, MachineState&) { c["limits"]["memory_bytes"] = 1073741824; }},
      {"swap is in use", FindingLevel::kDoubtful,
       [](Json&, MachineState& s) { s.swap_used_bytes = 1e9; }},
      {"disk space is free", FindingLevel::kDoubtful,
       [](Json&, MachineState& s) { s.disk_free_bytes = 1e8; }},
      {"not synchronised", FindingLevel::kDoubtful,
       [](Json&, MachineState& s) { s.clock_synchronised = false; }},
      {"Slurm client is not installed", FindingLevel::kOptional,
       [](Json&, MachineState& s) { s.programs["sbatch"] = false; }},
      {"OpenSSH client is not installed", FindingLevel::kOptional,
       [](Json&, MachineState& s) { s.programs["ssh"] = false; }},
      {"mpirun is not installed", FindingLevel::kOptional,
       [](Json&, MachineState& s) { s.programs["mpirun"] = false; }},
  };
  for (const Case& one : cases) {
    CAPTURE(one.what);
    Json conditions = good_conditions();
    MachineState state = good_state();
    one.spoil(conditions, state);
    const auto found = runner::findings(conditions, state);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found[0].what, Catch::Contains(one.what));
    CHECK(found[0].level == one.level);
    CHECK_FALSE(found[0].remedy.empty());
  }
}

TEST_CASE("The gravest finding comes first", "[conditions][doctor]") {
  Json conditions = good_conditions();
  conditions["gpus"][0]["compute_mode"] = "prohibited";
  MachineState state = good_state();
  state.programs["ssh"] = false;
  state.swap_used_bytes = 1e9;
  const auto found = runner::findings(conditions, state);
  REQUIRE(found.size() == 3);
  CHECK(found[0].level == FindingLevel::kProblem);
  CHECK(found[2].level == FindingLevel::kOptional);
}

TEST_CASE("The state of this machine can be read", "[conditions][doctor]") {
  const MachineState state = runner::read_machine_state("/");
  REQUIRE(state.cpu_busy_fraction);
  CHECK(*state.cpu_busy_fraction >= 0);
  CHECK(*state.cpu_busy_fraction <= 1);
  CHECK(state.memory_available_bytes.value() > 0);
  CHECK(state.disk_total_bytes.value() >= state.disk_free_bytes.value());
  CHECK(state.programs.size() == 6);  // see MachineState
}
