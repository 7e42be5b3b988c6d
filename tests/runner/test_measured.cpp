// Measurement quality reported by a result: used if it makes sense.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "runner/attempts/measured.h"
#include "runner/attempts/responses.h"
#include "tests/runner/series.h"

using namespace doetune;
using runner::measurement_flags;
using Json = nlohmann::json;
using Flags = std::vector<std::string>;

namespace {

study::Study study_with(const std::vector<std::string>& names) {
  study::Study study;
  for (const std::string& name : names) {
    study.responses.emplace_back();
    study.responses.back().name = name;
  }
  return study;
}

runner::Measured read(const Json& object) {
  return runner::read_measured(study_with({"y", "z"}), object);
}

std::vector<double> noise(std::size_t count) {
  RandomStream random(2, 1);
  return tests::autoregression(count, 0, 0.1, random);
}

}  // namespace

TEST_CASE("What a program says of its measurement is taken over", "[runner][measured]") {
  const auto measured = read(Json::parse(R"({"responses": {"y": 1}, "window": [10.5, 20],
      "steady": true, "precision": {"y": 0.02, "other": 0.1}, "repeats": {"y": [1, 2, 6]}})"));
  CHECK(measured.window == std::pair(10.5, 20.0));
  CHECK(measured.steady == true);
  CHECK(measured.half_width == std::map<std::string, double>{{"y", 0.02}});
  REQUIRE(measured.repeats.count("y") == 1);
  CHECK(measured.repeats.at("y").count == 3);
  CHECK(measured.repeats.at("y").mean == 3);
  CHECK(measured.repeats.at("y").variance == 7);
  CHECK(measured.remarks.empty());
  CHECK(measurement_flags(measured, 0.02).empty());
}

TEST_CASE("A result without any of it says nothing", "[runner][measured]") {
  for (const char* text : {R"({"y": 1, "z": 2})", R"({"responses": {"y": 1}})", "{}"}) {
    const auto measured = read(Json::parse(text));
    CHECK(measured.repeats.empty());
    CHECK(measured.half_width.empty());
    CHECK_FALSE(measured.window);
    CHECK_FALSE(measured.steady);
    CHECK(measurement_flags(measured, std::nullopt).empty());
    const auto flags = measurement_flags(measured, 0.01);
    REQUIRE(flags.size() == 1);
    CHECK_THAT(flags[0], Catch::Contains("the precision is unknown (1 % required)"));
  }
}

TEST_CASE("Repeats may be a list among the responses, and Student's interval is theirs",
          "[runner][measured]") {
  const auto measured = read(Json::parse(R"({"responses": {"y": [9, 10, 11], "z": [4]}})"));
  CHECK(measured.repeats.at("y").variance == 1);
  CHECK(measured.repeats.count("z") == 0);
  // t with 2 degrees of freedom is 4.302653.
  CHECK(measured.half_width.at("y") == Approx(4.302653 / std::sqrt(3.0) / 10));
  CHECK(measured.half_width.count("z") == 0);
}

TEST_CASE("Where the program does not say, its series decide", "[runner][measured]") {
  Json object{{"responses", {{"y", 1}}}, {"series", {{"y", noise(400)}}}};
  CHECK(read(object).steady == true);
  CHECK(read(object).half_width.at("y") == Approx(1.96 * 0.1 / 20).epsilon(0.4));
  auto rising = noise(400);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] += 0.005 * static_cast<double>(i);
  object["series"]["y"] = rising;
  CHECK(read(object).steady == false);
  const Flags flags = measurement_flags(read(object), {});
  REQUIRE(flags.size() == 1);
  CHECK_THAT(flags[0], Catch::Contains("y never became steady: its level still rose by"));
  object["steady"] = true;  // the program's own report takes precedence
  CHECK(read(object).steady == true);
  CHECK(measurement_flags(read(object), {}).empty());
  object.erase("steady");
  object["series"] = {{"other", rising}};  // not a response of the study
  CHECK_FALSE(read(object).steady);
}

TEST_CASE("A program that was never steady is flagged, in its own words where it has some",
          "[runner][measured]") {
  Json object{{"y", 1}, {"steady", false}};
  CHECK(measurement_flags(read(object), {}) == Flags{"the measurement never became steady"});
  object["notes"] = {{"steady", "latency still rose"}};
  CHECK(measurement_flags(read(object), {}) == Flags{"latency still rose"});
  object["notes"] = {{"steady", "\x1b[2J gone"}};
  CHECK(measurement_flags(read(object), {}) == Flags{" [2J gone"});
}

TEST_CASE("A response known less well than wanted is flagged", "[runner][measured]") {
  const auto measured = read(Json::parse(R"({"precision": {"y": 0.031, "z": 0.001}})"));
  CHECK(measurement_flags(measured, {}).empty());
  CHECK(measurement_flags(measured, 0.01) ==
        Flags{"y has a precision of 3.1 % instead of the required 1 %"});
}

TEST_CASE("What makes no sense is ignored, with a remark", "[runner][measured]") {
  const char* text =
      GENERATE(R"({"window": [2, 1]})", R"({"window": [1, 1]})", R"({"window": [1]})",
               R"({"window": "1-2"})", R"({"window": [null, 2]})", R"({"window": [1, 1e300]})",
               R"({"steady": "yes"})", R"({"steady": 1})", R"({"precision": {"y": -1}})",
               R"({"precision": {"y": "1 %"}})", R"({"precision": {"y": null}})",
               R"({"repeats": {"y": [1, null, 3]}})", R"({"repeats": {"y": "1, 2"}})",
               R"({"repeats": {"y": [1e200, -1e200]}})", R"({"series": {"y": {"a": 1}}})",
               R"({"series": {"y": [[1], [2]]}})");
  CAPTURE(text);
  const auto measured = read(Json::parse(text));
  CHECK(measured.remarks.size() == 1);
  CHECK(measurement_flags(measured, {}) == measured.remarks);
  CHECK(measured.repeats.empty());
  CHECK(measured.half_width.empty());
  CHECK_FALSE(measured.window);
  CHECK_FALSE(measured.steady);
}

TEST_CASE("Objects where others are expected harm nobody", "[runner][measured]") {
  for (const char* text :
       {R"({"precision": [1], "repeats": 3, "series": null, "notes": 4})",
        R"({"responses": 5, "precision": {"y": {}}})", R"({"series": {"y": []}})"})
    CHECK_NOTHROW(measurement_flags(read(Json::parse(text)), 0.01));
  std::vector<double> huge(50, 1e99);
  std::fill(huge.begin(), huge.begin() + 25, -1e99);
  CHECK_NOTHROW(read(Json{{"series", {{"y", huge}}}}));
}

TEST_CASE("A response that could not be given is missed in the program's own words",
          "[runner][measured]") {
  const runner::AttemptOutput output{
      R"({"responses": {"y": 1}, "stopped_by": "max_time", "notes": {"z": "it needs 662"}})", "",
      "", ""};
  const auto read = runner::read_responses(study_with({"y", "z"}), output);
  CHECK(read.problems == Flags{"result.json has no 'z': it needs 662"});
  CHECK(read.notes.at("stopped_by") == "max_time");
}
