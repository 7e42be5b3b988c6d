#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "runner/attempts/attempt_maker.h"
#include "runner/attempts/workload.h"
#include "runner/processes/run_error.h"
#include "tests/runner/fake_study.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::RunError;

namespace {

constexpr const char* kDescription = R"({
  "name": "stream-inference", "summary": "images of camera streams",
  "factors": [
    {"name": "batch_size", "kind": "integer", "low": 1, "high": 256, "default": 8,
     "words": ["max"]},
    {"name": "precision", "kind": "categorical", "levels": ["fp32", "bf16"]},
    {"name": "queue", "kind": "discrete", "levels": [1, 2, 4]}],
  "responses": [{"name": "throughput", "unit": "images/s", "description": "images analysed"}]})";

struct Bundle {
  tests::TemporaryDirectory temporary;

  Bundle() { ::setenv("DOETUNE_WORKLOADS", temporary.path().c_str(), 1); }
  ~Bundle() { ::unsetenv("DOETUNE_WORKLOADS"); }

  std::filesystem::path add(const std::string& name, const std::string& script) const {
    const auto program = temporary / name;
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return program;
  }
};

study::Study study_of(doe::Factor factor) {
  study::Study study = tests::fake_study(std::filesystem::temp_directory_path(), 1, {}).study;
  study.factors = {std::move(factor)};
  study.responses[0].name = "throughput";
  return study;
}

doe::Factor numeric(const std::string& name, double low, double high) {
  doe::Factor factor;
  factor.name = name;
  factor.low = low;
  factor.high = high;
  return factor;
}

}  // namespace

TEST_CASE("Bundled workloads are found by name, the nearest is named otherwise",
          "[runner][workload]") {
  const Bundle bundle;
  const auto program = bundle.add("stream-inference", "true");
  std::ofstream(bundle.temporary / "README") << "no program";
  CHECK(runner::find_workload("stream-inference") == program);
  CHECK_THROWS_WITH(runner::find_workload("stream-inferense"),
                    Catch::Contains("did you mean 'stream-inference'?") &&
                        Catch::Contains(bundle.temporary.path().string()));
  CHECK_THROWS_AS(runner::find_workload("README"), RunError);
  CHECK_THROWS_AS(runner::find_workload("../stream-inference"), RunError);
  CHECK_THROWS_AS(runner::find_workload(""), RunError);
}

TEST_CASE("A workload describes itself", "[runner][workload]") {
  const Bundle bundle;
  const auto program =
      bundle.add("w", std::string("echo log line; cat <<'END'\n") + kDescription + "\nEND");
  const auto description = runner::describe_workload(program);
  CHECK(description.name == "stream-inference");
  REQUIRE(description.factors.size() == 3);
  CHECK(description.factors[0].high == 256.0);
  CHECK(description.factors[0].default_text == "8");
  CHECK(description.factors[1].levels == std::vector<std::string>{"fp32", "bf16"});
  CHECK_FALSE(description.factors[1].low);
  CHECK(description.factors[2].levels == std::vector<std::string>{"1", "2", "4"});
  CHECK(description.responses.at(0).unit == "images/s");
}

TEST_CASE("A workload that does not describe itself is named", "[runner][workload]") {
  const Bundle bundle;
  CHECK_THROWS_WITH(runner::describe_workload(bundle.add("mute", "true")),
                    Catch::Contains("mute --describe printed no JSON object"));
  CHECK_THROWS_WITH(runner::describe_workload(bundle.add("odd", "echo '{\"name\": 1}'")),
                    Catch::Contains("odd --describe"));
  CHECK_THROWS_WITH(runner::describe_workload(bundle.add("slow", "sleep 600"), 0.1),
                    Catch::Contains("did not end in 0.1 s"));
  CHECK_THROWS_AS(runner::describe_workload(bundle.add("endless", "yes"), 5), RunError);
  CHECK_THROWS_AS(runner::describe_workload(bundle.temporary / "missing"), RunError);
}

TEST_CASE("A study must ask of a workload what it can do", "[runner][workload]") {
  const Bundle bundle;
  const auto description = runner::describe_workload(
      bundle.add("w", std::string("cat <<'END'\n") + kDescription + "\nEND"));
  const auto only_problem = [&](const study::Study& study) {
    const auto problems = runner::check_names(study, description);
    REQUIRE(problems.size() == 1);
    return problems[0].message;
  };

  study::Study study = study_of(numeric("batch_size", 1, 64));
  study.settings = {{"precision", "bf16", {}}, {"queue", "4", 4.0}};
  CHECK(runner::check_names(study, description).empty());

  SECTION("an unknown factor") {
    study.factors[0].name = "batch_sise";
    CHECK_THAT(only_problem(study), Catch::Contains("did you mean 'batch_size'?"));
  }
  SECTION("a range beyond the workload's") {
    study.factors[0].high = 512;
    CHECK_THAT(only_problem(study), Catch::Contains("high is 512") && Catch::Contains("1 to 256"));
  }
  SECTION("an unknown level") {
    study.settings[0].text = "bf61";
    CHECK_THAT(only_problem(study), Catch::Contains("did you mean 'bf16'?"));
  }
  SECTION("a discrete level that is not there") {
    study.settings[1] = {"queue", "3", 3.0};
    CHECK_THAT(only_problem(study), Catch::Contains("has no '3'"));
  }
  SECTION("a word for a number") {
    study.settings = {{"batch_size", "many", {}}};
    CHECK_THAT(only_problem(study), Catch::Contains("takes a number"));
  }
  SECTION("a word that the workload takes for a number") {
    study.settings = {{"batch_size", "max", {}}};
    CHECK(runner::check_names(study, description).empty());
  }
  SECTION("any text, such as a path, where the workload takes a text") {
    auto with_text = description;
    with_text.factors.emplace_back();
    with_text.factors.back().name = "source";
    with_text.factors.back().kind = "text";
    study.settings = {{"source", "../pictures", {}}};
    CHECK(runner::check_names(study, with_text).empty());
  }
  SECTION("numbers for a word") {
    study = study_of(numeric("precision", 0, 1));
    CHECK_THAT(only_problem(study), Catch::Contains("fp32, bf16"));
  }
  SECTION("an unknown response") {
    study.responses[0].name = "througput";
    CHECK_THAT(only_problem(study), Catch::Contains("did you mean 'throughput'?"));
  }
  SECTION("but a derived one is the study's own") {
    study.responses.emplace_back();
    study.responses.back().name = "half";
    study.responses.back().formula = "throughput / 2";
    CHECK(runner::check_names(study, description).empty());
  }
}

TEST_CASE("Without a current directory, what does not need one works and the rest says so",
          "[runner][workload]") {
  const Bundle bundle;
  bundle.add("bench", "true");
  ::setenv("DOETUNE_WORKLOADS", ("relative:" + bundle.temporary.path().string()).c_str(), 1);
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory(bundle.temporary / "gone");
  std::filesystem::current_path(bundle.temporary / "gone");
  std::filesystem::remove(bundle.temporary / "gone");

  CHECK(runner::find_workload("bench") == bundle.temporary / "bench");
  auto directory = tests::fake_study(bundle.temporary / "study", 1, {"true"});
  CHECK(runner::AttemptMaker(directory, "mpirun").path(1, 1) == directory.path / "runs" / "0001.1");
  directory.path = "study";
  CHECK_THROWS_WITH(
      runner::AttemptMaker(directory, "mpirun").path(1, 1),
      Catch::Contains("the current directory") && Catch::Contains("no longer exists"));
  std::filesystem::current_path(before);
}
