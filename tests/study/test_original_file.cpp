// A study file that is edited after its directory was planned.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "study/directory/directory.h"
#include "study/directory/original_file.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using namespace doetune::tests;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOriginal = R"(seed: 7
command: [/bin/true]
factors:
  n: {low: 1, high: 3, type: integer}
  precision: {levels: [fp32, "bf16, fast"]}
  rate: {low: 1, high: 9}
responses: {y: {unit: s}}
design: {type: fccd}
)";

void write_original(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

TEST_CASE("An edited study file beside the directory is reported, as it is not read",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path file = temporary.path() / "fccd.yaml";
  write_original(file, kOriginal);
  const study::Study study = study::load_study(file);
  const auto directory =
      study::create_directory(temporary.path() / "fccd", study, study::make_plan(study), false);
  CHECK_FALSE(study::edited_original(directory));
  write_original(file, std::string("# a comment\n") + kOriginal);
  CHECK_FALSE(study::edited_original(directory));

  SECTION("unless only its layout is another") {
    std::string text = kOriginal;
    text.replace(text.find("{low: 1, high: 9}"), 17, "\n    high: 9.0\n    low: 1");
    write_original(file, text);
    CHECK_FALSE(study::edited_original(directory));
    CHECK(study::edited_keys(directory, study::load_study(file)).empty());
  }
  SECTION("with the command that takes a goal up") {
    std::string text = kOriginal;
    text.replace(text.find("{unit: s}"), 9, "{unit: s, goal: minimize}");
    write_original(file, text);
    const auto warning = study::edited_original(directory);
    REQUIRE(warning);
    CHECK_THAT(*warning, Catch::Contains("fccd/study.yaml, the file in use, in: responses;") &&
                             Catch::Contains("`cp ") && Catch::Contains("applies the changes"));
  }
  SECTION("and in which settings runs cannot complete") {
    write_original(file,
                   std::string("feasibility: 0.9\ninfeasible_when: {rate: higher}\n") + kOriginal);
    CHECK_THAT(study::edited_original(directory).value_or(""),
               Catch::Contains("in: feasibility, infeasible_when;") &&
                   Catch::Contains("applies the changes"));
    write_original(file, std::string("feasibility: 0.9\n") + kOriginal);
    const fs::path read = temporary.path() / "fccd" / "study.yaml";
    fs::last_write_time(file, fs::last_write_time(read) + std::chrono::seconds(1));
    CHECK(study::open_directory(directory.path).study.feasibility == 0.9);
  }
  SECTION("or what to do about factors") {
    std::string text = kOriginal;
    text.replace(text.find("high: 9"), 7, "high: 8");
    write_original(file, text);
    const auto warning = study::edited_original(directory);
    REQUIRE(warning);
    CHECK_THAT(*warning, Catch::Contains("in: factors; runs cannot be changed after planning") &&
                             Catch::Contains("doetune import"));
  }
  SECTION("unless it was edited last: then its goals are used where the directory is opened") {
    std::string text = kOriginal;
    text.replace(text.find("{unit: s}"), 9, "{unit: s, goal: minimize, transform: log}");
    write_original(file, text);
    const fs::path read = temporary.path() / "fccd" / "study.yaml";
    fs::last_write_time(file, fs::last_write_time(read) - std::chrono::seconds(1));
    CHECK_FALSE(study::open_directory(directory.path).taken_up);
    fs::last_write_time(file, fs::last_write_time(read) + std::chrono::seconds(1));
    const auto opened = study::open_directory(directory.path);
    const auto& responses = opened.study.responses;
    CHECK(std::any_of(responses.begin(), responses.end(), [](const study::Response& response) {
      return response.goal == doe::GoalType::kMinimize &&
             response.transform == doe::TransformType::kLog;
    }));
    CHECK(opened.study.text == directory.study.text);
    CHECK(opened.plan_hash == directory.plan_hash);
    REQUIRE(opened.taken_up);
    CHECK_THAT(*opened.taken_up, Catch::EndsWith("taken from the former: responses"));
    CHECK(study::edited_original(opened) == opened.taken_up);
    CHECK_FALSE(study::changed_runs(opened));

    text.replace(text.find("goal: minimize"), 14, "pattern: 't=(.*)'");  // measured differently
    write_original(file, text);
    fs::last_write_time(file, fs::last_write_time(read) + std::chrono::seconds(1));
    CHECK_FALSE(study::open_directory(directory.path).taken_up);
    text = kOriginal;
    text.replace(text.find("high: 9"), 7, "high: 8");
    write_original(file, text);
    fs::last_write_time(file, fs::last_write_time(read) + std::chrono::seconds(1));
    const auto other = study::open_directory(directory.path);
    CHECK_FALSE(other.taken_up);
    CHECK_THAT(*study::edited_original(other), Catch::Contains("cannot be changed"));
    CHECK(study::changed_runs(other) == study::edited_original(other));
    fs::last_write_time(read, fs::last_write_time(file) + std::chrono::seconds(1));
    CHECK_FALSE(study::changed_runs(other));  // its user goes on with the plan as it is
  }
  SECTION("unless it is no study file at the moment") {
    write_original(file, "factors: [");
    CHECK_FALSE(study::edited_original(directory));
  }
}

TEST_CASE("An edited study is written only where the directory opens with it",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path file = temporary.path() / "edited.yaml",
                 read = temporary.path() / "fccd/study.yaml";
  const auto edited = [&](const std::string& text) {
    write_original(file, text);
    return study::load_study(file);
  };
  const auto text_read = [&] { return study::open_directory(read.parent_path()).study.text; };
  const std::string chosen = "fit: {surface: gaussian-process}\n", settings = "settings: {m: 8}\n";
  const study::Study planned = edited(kOriginal + settings + chosen);
  auto directory =
      study::create_directory(read.parent_path(), planned, study::make_plan(planned), false);

  std::string text = kOriginal + settings;
  text.replace(text.find("{unit: s}"), 9, "{unit: s, goal: minimize}");
  CHECK(study::edited_keys(directory, edited(text)) == std::vector<std::string>{"responses"});
  study::edit_study(directory, edited(text));
  CHECK(directory.study.responses.front().goal == doe::GoalType::kMinimize);
  CHECK_THAT(text_read(), Catch::StartsWith(text) && Catch::Contains("gaussian-process"));

  const std::string before = text_read();
  CHECK_THROWS_WITH(
      study::edit_study(directory, edited(kOriginal + std::string("settings: {m: 8.0}\n"))),
      Catch::Contains("settings differs"));  // the program is given other arguments
  CHECK_THROWS_WITH(
      study::edit_study(directory,
                        edited("{seed: 7, command: [/bin/true], settings: {m: 8}, factors: "
                               "{n: {low: 1, high: 3, type: integer}, precision: {levels: "
                               "[fp32, 'bf16, fast']}, rate: {low: 1, high: 9}}, responses: "
                               "{y: {unit: s}}, design: {type: fccd}}  # {n}\n")),
      Catch::Contains("fit cannot be added"));
  CHECK(text_read() == before);
}
