#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "runner/attempts/request.h"
#include "runner/attempts/slots.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "tests/runner/fake_study.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::RunError;

namespace {

study::Study study_with_factors(std::vector<std::string> command) {
  study::Study study = tests::fake_study(std::filesystem::temp_directory_path(), 3, {}).study;
  doe::Factor precision;
  precision.name = "precision";
  precision.kind = doe::FactorKind::kCategorical;
  precision.level_names = {"fp32", "bf16"};
  study.factors.push_back(precision);
  study.settings = {{"model", "tiny-yolov2", {}}, {"channels", "32", 32.0}, {"rate", "0.5", 0.5}};
  study.command = std::move(command);
  return study;
}

study::PlannedRun planned() {
  study::PlannedRun run;
  run.run = 7;
  run.replicate = 2;
  run.settings = {12, 1};
  return run;
}

std::vector<std::string> fill(std::vector<std::string> command) {
  return runner::fill_command(study_with_factors(std::move(command)), planned(), 3,
                              "/s/runs/0007.3");
}

}  // namespace

TEST_CASE("A request contains everything, numbers as numbers and levels as text",
          "[runner][request]") {
  study::StudyDirectory directory;
  directory.study = study_with_factors({});
  directory.plan_hash = "0123456789abcdef";
  study::Study& study = directory.study;
  study.run.warmup_s = 2.5;
  const auto request = nlohmann::json::parse(
      runner::request_text(directory, planned(), 3, {"", {"0", "1"}, {4, 5}}));
  CHECK(request.at("study") == "fake");
  CHECK(request.at("plan") == "0123456789abcdef");
  CHECK(request.at("run") == 7);
  CHECK(request.at("attempt") == 3);
  CHECK(request.at("replicate") == 2);
  CHECK(request.at("seed") == runner::run_seed(study.seed, 7));
  CHECK(request.at("factors").dump() == R"({"precision":"bf16","x":12})");  // 12, not 12.0
  CHECK(request.at("settings").dump() == R"({"channels":32,"model":"tiny-yolov2","rate":0.5})");
  CHECK(request.at("gpus") == std::vector<std::string>{"0", "1"});
  CHECK(request.at("cpus") == std::vector<int>{4, 5});
  CHECK(request.at("time_limit_s") == 60);
  CHECK(request.at("warmup_s") == 2.5);
  CHECK(request.at("repeats") == 1);
}

TEST_CASE("Seeds differ from run to run and from study to study, and any JSON reader keeps them",
          "[runner][request]") {
  std::set<std::uint64_t> seeds;
  for (int run = 1; run <= 1000; ++run) {
    for (const std::uint64_t study_seed : {1, 2, 2026}) {
      const auto seed = runner::run_seed(study_seed, run);
      CHECK(seed < (1ULL << 53));
      seeds.insert(seed);
    }
  }
  CHECK(seeds.size() == 3000);
  CHECK(runner::run_seed(1, 1) == runner::run_seed(1, 1));
}

TEST_CASE("Placeholders are filled, doubled braces are literal", "[runner][request]") {
  CHECK(fill({"./bench", "--x={x}", "{precision}:{model}", "{channels}"}) ==
        std::vector<std::string>{"./bench", "--x=12", "bf16:tiny-yolov2", "32"});
  CHECK(
      fill({"{run}.{attempt}", "{request}", "{result}"}) ==
      std::vector<std::string>{"7.3", "/s/runs/0007.3/request.json", "/s/runs/0007.3/result.json"});
  CHECK(fill({"{{x}}", "{{\"x\": {x}}}", "}", ""}) ==
        std::vector<std::string>{"{x}", "{\"x\": 12}", "}", ""});
}

TEST_CASE("An unknown placeholder names the nearest valid one", "[runner][request]") {
  CHECK_THROWS_WITH(fill({"{precisoin}"}), Catch::Contains("'{precisoin}'") &&
                                               Catch::Contains("did you mean 'precision'?"));
  CHECK_THROWS_AS(fill({"{}"}), RunError);
  CHECK_THROWS_WITH(fill({"--x={x"}), Catch::Contains("without a }"));
}

TEST_CASE("A program is found as a shell would find it", "[runner][request]") {
  const tests::TemporaryDirectory temporary;
  std::filesystem::create_directory(temporary / "bin");
  const auto program = temporary / "bin" / "bench";
  std::ofstream(program) << "#!/bin/sh\n";
  const auto find = [&](const std::string& name) {
    return runner::find_program(name, temporary.path(), "/nowhere:" + (temporary / "bin").string());
  };
  CHECK_THROWS_WITH(find("./bin/bench"), Catch::Contains("is not an executable file"));
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CHECK(find("./bin/bench") == program);
  CHECK(find(program.string()) == program);
  CHECK(find("bench") == program);
  CHECK_THROWS_WITH(find("bnch"), Catch::Contains("no such program in PATH (/nowhere:"));
  CHECK_THROWS_AS(find("./bin"), RunError);
  CHECK_THROWS_AS(find(""), RunError);
  CHECK_THROWS_WITH(runner::find_program("bench", temporary / "bin", "/nowhere"),
                    Catch::Contains("did you mean './bench'?"));
}

TEST_CASE("A program's GPUs are set only where it gets any", "[runner][request]") {
  study::Study study = study_with_factors({});
  study.run.environment = {{"OMP_NUM_THREADS", "4"}};
  auto environment = runner::attempt_environment(study, "/a", {"", {"2"}, {}});
  CHECK(environment.at("DOETUNE_REQUEST") == "/a/request.json");
  CHECK(environment.at("DOETUNE_RESULT") == "/a/result.json");
  CHECK(environment.at("OMP_NUM_THREADS") == "4");
  CHECK(environment.count("CUDA_VISIBLE_DEVICES") == 0);
  study.run.gpus_per_run.fixed = 1;
  CHECK(runner::attempt_environment(study, "/a", {"", {"2"}, {}}).at("CUDA_VISIBLE_DEVICES") ==
        "2");
}
