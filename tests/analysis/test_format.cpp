#include <catch2/catch.hpp>

#include "analysis/format.h"

#include <cmath>

#include "analysis/settings_forms.h"
#include "study/study.h"

using namespace doetune;
using namespace doetune::analysis;

TEST_CASE("Numbers are shown to four digits, whole ones in full", "[reports][format]") {
  CHECK(short_number(0.581234) == "0.5812");
  CHECK(short_number(12345.6) == "12346");
  CHECK(short_number(0) == "0");
  CHECK(short_number(-0.0) == "0");
  CHECK(short_number(1.5e-7) == "1.5e-07");
  CHECK(exact_number(0.1 + 0.2) == "0.30000000000000004");
}

TEST_CASE("An estimate is shown to the digits its uncertainty leaves", "[reports][format]") {
  CHECK(number_to(2109.529, 142) == "2110");
  CHECK(number_to(0.762754, 0.2126) == "0.76");
  CHECK(number_to(0.762754, 0.0021) == "0.7628");
  CHECK(number_to(-0.001, 0.2) == "0.00");
  CHECK(number_to(3.14159, 0) == "3.142");
  CHECK(interval_text({0.5502, 0.9753}) == "0.55 to 0.98");
}

TEST_CASE("A probability is never a false certainty", "[reports][format]") {
  CHECK(percent(0.9657) == "97 %");
  CHECK(percent(0.999) == "> 99 %");
  CHECK(percent(0.004) == "< 1 %");
  CHECK(percent(1) == "100 %");
  CHECK(percent(0) == "0 %");
  CHECK(p_text(0.031) == "0.031");
  CHECK(p_text(1e-9) == "< 0.0001");
}

TEST_CASE("A difference is shown to two digits of its own at least", "[reports][format]") {
  CHECK(difference_to(73.35, 32) == "73");
  CHECK(difference_to(0.0002225, 0.001) == "0.00022");
  CHECK(signed_difference_to(-34.39, 32) == "-34");
  CHECK(signed_difference_to(162.5, 2.8) == "+162.5");
  CHECK(signed_difference_to(0.5, 0) == "+0.5");
  CHECK(half_width(surfaces::Interval{1, 4}) == 1.5);
  CHECK(half_width(std::nullopt) == 0);
}

TEST_CASE("An estimated probability is never certain, a fraction may be", "[reports][format]") {
  CHECK(chance_text(1) == "> 99 %");
  CHECK(chance_text(0) == "< 1 %");
  CHECK(chance_text(0.62) == "62 %");
  CHECK(in_words(chance_text(1)) == "more than 99 %");
  CHECK(r2_text(0.9994) == "> 0.99");
  CHECK(r2_text(1) == "1.00");
  CHECK(r2_text(0.53) == "0.53");
}

TEST_CASE("The unit of a mere number is not written", "[reports][format]") {
  CHECK(with_unit("1.06", "1") == "1.06");
  CHECK(name_with_unit("fraction", "1") == "fraction");
  CHECK(name_with_unit("time", "s") == "time [s]");
  CHECK(listed({"a", "b", "c"}) == "a, b and c");
}

TEST_CASE("Goals are read as they are written", "[reports][format]") {
  surfaces::Goal goal;
  goal.type = surfaces::GoalType::kWithin;
  goal.low = 1800;
  goal.high = 2500;
  CHECK(goal_text(goal, "images/s") == "within 1800 to 2500 images/s");
  goal.type = surfaces::GoalType::kAtMost;
  goal.high = 1;
  CHECK(goal_text(goal, "s") == "at most 1 s");
}

TEST_CASE("A number never reads as a limit that it is not equal to", "[reports][format]") {
  surfaces::Goal goal;
  goal.type = surfaces::GoalType::kAtMost;
  goal.high = 25;
  CHECK(number_beside(24.96, 12, goal) == "24.96");  // at this resolution: 25
  CHECK(number_beside(25.00001, 0, goal) == "25.00001");
  CHECK(number_beside(25, 12, goal) == "25");
  CHECK(number_beside(23.96, 12, goal) == "24");
  CHECK(number_beside(24.96, 12, std::nullopt) == "25");
  CHECK(number_beside(std::nextafter(25.0, 26.0), 0, goal) == "25");  // a rounding error
  CHECK(number_beside(25 + 1e-10, 0, goal) == "25.0000000001");
  goal.high = 1.1e-11;
  CHECK(number_beside(1.1000001e-11, 1e-19, goal) == "1.1000001e-11");  // not 0.0
  CHECK(number_beside(std::nextafter(1.1e-11, 1), 1e-27, goal) == "1.1e-11");
  goal.high = 0;
  CHECK(number_beside(0.001, 0.2, goal) == "0.001");
  goal.high = 25;
  goal.type = surfaces::GoalType::kWithin;
  goal.low = 1800;
  CHECK(number_beside(1799.6, 142, goal) == "1799.6");
  goal.type = surfaces::GoalType::kMaximize;  // whose ends are not limits
  CHECK(number_beside(1799.6, 142, goal) == "1800");
  goal.type = surfaces::GoalType::kAtMost;
  goal.high = 24.99999;  // as given by the user, not 25
  CHECK(goal_text(goal, "ms") == "at most 24.99999 ms");
}

TEST_CASE("The mean on the scale of a fit goes by its name", "[reports][format]") {
  CHECK(mean_words(surfaces::Transform::kNone) == "mean");
  CHECK(mean_words(surfaces::Transform::kLog) == "geometric mean");
  CHECK(mean_words(surfaces::Transform::kInverse) == "harmonic mean");
  CHECK(mean_words(surfaces::Transform::kSqrt) == "mean on the sqrt scale");
}

TEST_CASE("Run numbers are read as ranges", "[reports][format]") {
  CHECK(analysis::runs_text({7}) == "run 7");
  CHECK(analysis::runs_text({7, 8}) == "runs 7 and 8");
  CHECK(analysis::runs_text({7, 8, 9}) == "runs 7 to 9");
  CHECK(analysis::runs_text({3, 7, 8, 9, 12}) == "runs 3, 7 to 9 and 12");
  CHECK(analysis::runs_text({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27}) ==
        "runs 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 2 more");
  CHECK(analysis::run_list({3, 7, 8, 9, 12}) == "3,7-9,12");
}

TEST_CASE("GPUs are named by index or by what distinguishes their UUIDs", "[reports][format]") {
  CHECK(analysis::gpu_text("0,1") == "GPU 0,1");
  CHECK(analysis::gpu_text("GPU-3f2a91c4-1111-2222,GPU-aaaabbbb-3333") ==
        "GPU-3f2a91c4,GPU-aaaabbbb");
  CHECK(analysis::gpu_text("").empty());
}

TEST_CASE("Durations read as people say them", "[format]") {
  CHECK(analysis::duration_text(0.25) == "0.25 s");
  CHECK(analysis::duration_text(45) == "45 s");
  CHECK(analysis::duration_text(130) == "2 min 10 s");
  CHECK(analysis::duration_text(600) == "10 min");
  CHECK(analysis::duration_text(7200) == "2 h");
  CHECK(analysis::duration_text(3900) == "1 h 5 min");
}

TEST_CASE("A command to copy is one that can be run", "[reports][format]") {
  const study::Study study = study::parse_study(
      "seed: 7\ncommand: [./bench, '{batch}', '--run={run}', '{attempt}', '{seed}', '{result}']\n"
      "factors: {batch: {low: 1, high: 8, type: integer}}\n"
      "responses: {throughput: {goal: maximize}}\n",
      "s.yaml");
  CHECK(settings_as_command(study, {4}) == "./bench 4 --run=1 1 7 '{result}'");
}

TEST_CASE("The command of a server's load tells where the server is", "[reports][format]") {
  const auto command = [](const std::string& settings) {
    const study::Study study = study::parse_study(
        "workload: serving-load\n" + settings +
            "factors: {batch: {low: 1, high: 8, type: integer}, concurrency: {low: 1, high: 8}}\n"
            "responses: {requests_per_second: {goal: maximize}}\n"
            "run: {set_up: [serve, --batch, \"{batch}\", \"{host}\", \"{port}\"]}\n",
        "s.yaml");
    CHECK(settings_as_server_command(study, {4, 2}) == "serve --batch 4 '{host}' '{port}'");
    return settings_as_command(study, {4, 2});
  };
  CHECK(command("") ==
        "doetune workload serving-load --concurrency 2 --host '{host}' --port '{port}'");
  CHECK(command("settings: {url: \"http://here:80\"}\n") ==
        "doetune workload serving-load --concurrency 2 --url http://here:80");
}
