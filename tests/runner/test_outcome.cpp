#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/untrusted_json.h"
#include "runner/attempts/outcome.h"
#include "runner/processes/run_error.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::AttemptEnd;
using runner::AttemptOutput;
using runner::EndCause;
using study::RunStatus;

namespace {

study::Study study_of(const std::vector<std::string>& names) {
  study::Study study;
  for (const std::string& name : names) {
    study.responses.emplace_back();
    study.responses.back().name = name;
  }
  return study;
}

study::RunRecord assess(const study::Study& study, const AttemptOutput& output, int exit_code = 0,
                        EndCause cause = EndCause::kExited) {
  AttemptEnd end;
  end.cause = cause;
  end.exit_code = exit_code;
  end.host = "node1";
  end.duration_s = 2;
  return runner::assess(study, study::PlannedRun(), 1, end, output);
}

AttemptOutput printed(std::string text) { return {{}, "", std::move(text), ""}; }

}  // namespace

TEST_CASE("Every declared response is needed, and the missing ones are named",
          "[runner][outcome]") {
  const auto study = study_of({"throughput", "power"});
  CHECK(assess(study, printed(R"({"throughput": 1, "power": 2})")).status == RunStatus::kCompleted);
  const auto record = assess(study, printed(R"({"throughput": 1, "pwoer": 2})"));
  CHECK(record.status == RunStatus::kFailed);
  CHECK_THAT(record.reason, Catch::Contains("has no 'power'; did you mean 'pwoer'?"));
  CHECK(record.responses.at("throughput") == 1);  // measured values are kept
}

TEST_CASE("A derived response need not be measured", "[runner][outcome]") {
  auto study = study_of({"throughput", "twice"});
  study.responses[1].formula = "2 * throughput";
  const auto record = assess(study, printed(R"({"throughput": 4})"));
  CHECK(record.status == RunStatus::kCompleted);
  CHECK(record.responses.at("twice") == 8);
}

TEST_CASE("A derived response without a value, and a window without telemetry, are reported",
          "[runner][outcome]") {
  auto study = study_of({"y", "z"});
  study.responses[1].formula = "1 / y";
  auto record = assess(study, printed(R"({"y": 0})"));
  CHECK(record.status == RunStatus::kCompleted);
  CHECK(record.flags == std::vector<std::string>{"the formula z = 1 / y has no finite value"});

  const tests::TemporaryDirectory temporary;
  std::ofstream(temporary / "telemetry.csv") << "time_s,cpu_busy_share\n5000,0.5\n5000.1,0.5\n";
  AttemptOutput output = printed(R"({"responses": {"y": 1}, "window": [1, 2]})");
  output.telemetry = temporary / "telemetry.csv";
  record = assess(study, output);
  REQUIRE(record.flags.size() == 1);
  CHECK_THAT(record.flags[0], Catch::Contains("no telemetry was sampled in the window"));
}

TEST_CASE("result.json counts before the output", "[runner][outcome]") {
  const auto study = study_of({"y"});
  CHECK(assess(study, {R"({"y": 1})", "", R"({"y": 2})", ""}).responses.at("y") == 1);
}

TEST_CASE("A response that gives only its repeats is their mean", "[runner][outcome]") {
  const auto study = study_of({"y", "z"});
  const auto responses_in = [&](const std::string& text) {
    return assess(study, {text, "", "", ""}).responses;
  };
  using Values = std::map<std::string, double>;
  CHECK(responses_in(R"({"responses": {"y": 1}, "repeats": {"y": [5, 7], "z": [2, 4]}})") ==
        Values{{"y", 1}, {"z", 3}});
  CHECK(responses_in(R"({"repeats": {"y": [5, 7], "z": [2]}})") == Values{{"y", 6}, {"z", 2}});
  CHECK(responses_in(R"({"y": 1, "z": 2, "repeats": 3})") == Values{{"y", 1}, {"z", 2}});
  CHECK(responses_in(R"({"responses": {"y": 1}, "repeats": {"z": []}})") == Values{{"y", 1}});
}

TEST_CASE("A pattern reads a response from the last line that matches", "[runner][outcome]") {
  auto study = study_of({"y"});
  study.responses[0].pattern = "throughput: ([-+.e0-9]+) images/s";
  SECTION("of standard output") {
    const auto record =
        assess(study, printed("throughput: 1 images/s\nthroughput: +2.5e1 images/s\nx"));
    CHECK(record.responses.at("y") == 25);
  }
  SECTION("or of standard error") {
    CHECK(assess(study, {{}, "", "", "throughput: 3 images/s"}).responses.at("y") == 3);
  }
  SECTION("without a group: the whole match") {
    study.responses[0].pattern = "[0-9]+$";
    CHECK(assess(study, printed("took 17")).responses.at("y") == 17);
  }
  SECTION("no line matches") {
    CHECK_THAT(assess(study, printed("nothing")).reason,
               Catch::Contains("matches the pattern of 'y'"));
  }
  SECTION("no number") {
    CHECK_THAT(assess(study, printed("throughput: e.e images/s")).reason,
               Catch::Contains("'e.e', which is not a finite number"));
  }
  SECTION("a line of any length does not blow the stack") {
    study.responses[0].pattern = "(.*)*x";
    CHECK(assess(study, printed(std::string(1 << 20, 'x'))).status == RunStatus::kFailed);
  }
  SECTION("a pattern that invites backtracking takes linear time") {
    study.responses[0].pattern = "(a+)+b";
    const double began_s = monotonic_s();
    CHECK(assess(study, printed(std::string(1 << 20, 'a'))).status == RunStatus::kFailed);
    CHECK(monotonic_s() - began_s < 10);
  }
  SECTION("however long the line, and whatever follows it") {
    const std::string rest(100000, 'x');
    CHECK(assess(study, printed(rest + "throughput: 5 images/s" + rest + "\n" + rest))
              .responses.at("y") == 5);
  }
  SECTION("among bytes that are no UTF-8") {
    study.responses[0].pattern = "t.+: ([0-9]+)";
    CHECK(assess(study, printed("t\xff\xc3: 5\n\n")).responses.at("y") == 5);
  }
  SECTION("a group that takes no part found nothing") {
    study.responses[0].pattern = "(y=)?x";
    CHECK_THAT(assess(study, printed("x")).reason, Catch::Contains("found ''"));
  }
  SECTION("line ends are for the line") {
    study.responses[0].pattern = "^[0-9]+$";
    CHECK(assess(study, printed("1\n2\n3 4\n")).responses.at("y") == 2);
  }
  SECTION("no regular expression") {
    study.responses[0].pattern = "(";
    CHECK_THROWS_WITH(runner::check_patterns(study), Catch::Contains("response 'y'"));
  }
}

TEST_CASE("How an attempt ended decides its status", "[runner][outcome]") {
  const auto study = study_of({"y"});
  const auto good = printed(R"({"y": 1})");
  CHECK(assess(study, good, 0, EndCause::kTimeLimit).status == RunStatus::kTimedOut);
  CHECK(assess(study, good, 0, EndCause::kCancelled).status == RunStatus::kCancelled);
  CHECK(assess(study, good, 0, EndCause::kLost).status == RunStatus::kLost);
  CHECK(assess(study, good, 0, EndCause::kNotStarted).status == RunStatus::kFailed);
  CHECK(assess(study, good, 1).status == RunStatus::kFailed);
  CHECK(assess(study, good, 77).status == RunStatus::kInfeasible);
}

TEST_CASE("Memory that ran out is recognised by what programs say of it", "[runner][outcome]") {
  const auto words = GENERATE(as<std::string>(),  // as printed by the named programs
                              "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
                              "torch.cuda.OutOfMemoryError: CUDA out of memory.",
                              "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
                              "terminate called after throwing an instance of 'std::bad_alloc'",
                              "MemoryError", "RESOURCE_EXHAUSTED: OOM when allocating tensor",
                              "CUBLAS_STATUS_ALLOC_FAILED", "fork: Cannot allocate memory");
  const auto study = study_of({"y"});
  const AttemptOutput output{{}, "", "", "loading\n" + words + "\ntraceback\n"};
  const auto record = assess(study, output, 1);
  CHECK(record.status == RunStatus::kInfeasible);
  CHECK(record.reason == "out of memory: " + words);
  // A program that manages with less memory and measures has completed.
  CHECK(assess(study, {R"({"y": 1})", "", "", words}, 0).status == RunStatus::kCompleted);
}

TEST_CASE("A reason is one printable line", "[runner][outcome]") {
  const AttemptOutput output{{}, "", "", "first\n\x1b[31mlast\twords\r\n \n"};
  CHECK(assess(study_of({"y"}), output, 3).reason == "exit code 3:  [31mlast words");
  const AttemptOutput ruled{
      {}, "", "", "-----\nno slots for 2 ranks\n\n-----\n"};  // as printed by mpirun
  CHECK(assess(study_of({"y"}), ruled, 3).reason == "exit code 3: no slots for 2 ranks");
  const AttemptOutput eight_bits{
      {},
      "",
      "",
      "\xc2\x9b"
      "2J \x9b"
      "2J \xc2\x90 \xc2\xa0 \xc3\xbc \xe2\x80\xa6 \xf0\x9f\x98\x80 \xe2\x80"};
  CHECK(assess(study_of({"y"}), eight_bits, 3).reason ==
        "exit code 3:  2J  2J   \xc2\xa0 \xc3\xbc \xe2\x80\xa6 \xf0\x9f\x98\x80   ");
  const AttemptOutput endless{{}, "", "", std::string(100000, 'x')};
  CHECK(assess(study_of({"y"}), endless, 3).reason.size() < 400);
}

TEST_CASE("JSON of untrusted programs is bounded", "[runner][json]") {
  CHECK(parse_untrusted("  {\"a\": 1}\n")->at("a") == 1);
  CHECK(parse_untrusted(R"({"a": NaN, "b": [Infinity, -inf], "c": "NaN \" nan"})")->dump() ==
        R"({"a":null,"b":[null,null],"c":"NaN \" nan"})");
  CHECK_FALSE(parse_untrusted(""));
  CHECK_FALSE(parse_untrusted("[1]"));
  CHECK_FALSE(parse_untrusted("{} {}"));
  CHECK_FALSE(parse_untrusted("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"));
  CHECK_FALSE(parse_untrusted("{\"" + std::string(kMaxJsonBytes, 'a') + "\": 1}"));
}

TEST_CASE("The last JSON object of an output may span lines and be followed by others",
          "[runner][json]") {
  CHECK(last_object("{\"a\": 1}\n{\"a\": 2}\n")->at("a") == 2);
  CHECK(last_object("log\n{\"a\": 2}\nbye\n")->at("a") == 2);
  CHECK(last_object("log\n{\n  \"a\": {\n    \"b\": 3\n  }\n}\n\n")->at("a").at("b") == 3);
  CHECK(last_object("{\"a\": 1}")->at("a") == 1);
  CHECK_FALSE(last_object(""));
  CHECK_FALSE(last_object("\n\n"));
  CHECK_FALSE(last_object("{\n{\n{\n"));
}

TEST_CASE("A number that no double holds is not finite, wherever it was written",
          "[runner][outcome]") {
  const auto study = study_of({"y"});
  const auto number =
      GENERATE(std::string("1e400"), std::string("-1e400"), "1" + std::string(400, '0'));
  const std::string text = "{\"y\": " + number + ", \"s\": \"1e400\"}";
  CHECK_THAT(assess(study, printed(text)).reason,
             Catch::Contains("'y' in the output's last JSON object is not a finite number"));
  AttemptOutput written;
  written.result = text;
  CHECK_THAT(assess(study, written).reason,
             Catch::Contains("'y' in result.json is not a finite number"));
  CHECK(parse_untrusted(text)->at("s") == "1e400");
  CHECK(parse_untrusted(R"({"y": -1.5e-400, "z": [1E+3, -0.0]})")->at("z").at(0) == 1000);
}

TEST_CASE("An object too long for what is read of the output is distinguished from none",
          "[runner][outcome]") {
  const tests::TemporaryDirectory temporary;
  study::write_file_atomically(
      temporary / "stdout",
      "{\"y\": 1, \"z\": \"" + std::string(runner::kTailBytes, 'x') + "\"}\n");
  const auto record = assess(study_of({"y"}), runner::read_output(temporary.path()));
  CHECK(record.status == RunStatus::kFailed);
  CHECK_THAT(record.reason, Catch::Contains("in the last 1 MiB of standard output"));
}

TEST_CASE("What the runner could not keep of the output makes a run lost, not failed",
          "[runner][outcome]") {
  const auto study = study_of({"y"});
  AttemptEnd end;
  end.exit_code = 0;
  end.cause = EndCause::kExited;
  end.output_problem = "stdout: Input/output error";
  const auto lost = runner::assess(study, study::PlannedRun(), 1, end, printed("{\"y\": 1}"));
  CHECK(lost.status == RunStatus::kLost);
  CHECK_THAT(lost.reason, Catch::Contains("stdout: Input/output error"));
  CHECK(lost.responses.empty());
  AttemptOutput written;
  written.result = "{\"y\": 1}";
  const auto completed = runner::assess(study, study::PlannedRun(), 1, end, written);
  CHECK(completed.status == RunStatus::kCompleted);
  REQUIRE(completed.flags.size() == 1);
  CHECK_THAT(completed.flags[0], Catch::Contains("stdout: Input/output error"));
}

TEST_CASE("A run during which doetune was suspended is flagged", "[runner][outcome]") {
  AttemptEnd end;
  end.exit_code = 0;
  end.cause = EndCause::kExited;
  end.suspended_s = 90;
  const auto record =
      runner::assess(study_of({"y"}), study::PlannedRun(), 1, end, printed("{\"y\": 1}"));
  CHECK(record.status == RunStatus::kCompleted);
  REQUIRE(record.flags.size() == 1);
  CHECK_THAT(record.flags[0], Catch::Contains("suspended for 90 s"));
}
