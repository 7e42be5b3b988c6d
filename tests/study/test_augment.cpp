#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "study/augment.h"
#include "study/directory/journal.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using namespace doetune::tests;
using study::Augmentation;

namespace {

study::StudyDirectory planned(const TemporaryDirectory& temporary, const std::string& text) {
  const study::Study study = study::parse_study(text, "s.yaml");
  return study::create_directory(temporary.path() / "s", study, study::make_plan(study), false);
}

std::string three_factors(const std::string& design) {
  return "seed: 1\ncommand: [/bin/true]\nfactors:\n  a: {low: -1, high: 1}\n"
         "  b: {low: -1, high: 1}\n  c: {low: -1, high: 1}\nmodel: linear\ndesign: " +
         design + "\nresponses: {y: {}}\n";
}

void record(const study::StudyDirectory& directory, int run, study::RunStatus status) {
  study::Journal journal(directory.journal(), directory.study.name, directory.plan_hash);
  study::RunRecord record;
  record.run = run;
  record.status = status;
  if (status == study::RunStatus::kCompleted) record.responses["y"] = 1;
  journal.append(record);
}

Augmentation optimal(const study::StudyDirectory& directory, int runs, const char* model) {
  Augmentation augmentation;
  augmentation.runs = runs;
  augmentation.model = doe::Model::named(model, directory.study.factors);
  return augmentation;
}

using Settings = std::set<std::vector<double>>;

Settings settings_of(const study::Plan& plan, std::size_t first) {
  Settings settings;
  for (std::size_t i = first; i < plan.runs.size(); ++i) settings.insert(plan.runs[i].settings);
  return settings;
}

}  // namespace

TEST_CASE("A half fraction and its fold-over are the full factorial", "[study][augment]") {
  // Box & Hunter (1961): c = a b becomes c = -a b.
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: fractional-factorial, runs: 4, center_runs: 0}"));
  REQUIRE(directory.plan.runs.size() == 4);
  Augmentation fold;
  fold.kind = Augmentation::Kind::kFoldOver;
  const study::Plan plan = study::augmented_plan(directory, fold);
  REQUIRE(plan.runs.size() == 8);
  CHECK(settings_of(plan, 0).size() == 8);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(plan.runs[i].settings == directory.plan.runs[i].settings);

  fold.factor = "a";
  const study::Plan one = study::augmented_plan(directory, fold);
  CHECK(settings_of(one, 0).size() == 8);
  fold.factor = "aa";
  CHECK_THROWS_WITH(study::augmented_plan(directory, fold), Catch::Contains("did you mean 'a'?"));
}

TEST_CASE("A fold-over repeats centre runs as centre runs", "[study][augment]") {
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: fractional-factorial, runs: 6, center_runs: 2}"));
  Augmentation fold;
  fold.kind = Augmentation::Kind::kFoldOver;
  const study::Plan plan = study::augmented_plan(directory, fold);
  REQUIRE(plan.runs.size() == 12);
  CHECK(std::count_if(plan.runs.begin() + 6, plan.runs.end(), [](const study::PlannedRun& run) {
          return run.type == doe::PointType::kCenter &&
                 run.settings == std::vector<double>{0, 0, 0} && run.replicate > 2;
        }) == 2);
}

TEST_CASE("A factorial with axial runs is the face-centred CCD", "[study][augment]") {
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: full-factorial, levels: 2, center_runs: 0}"));
  Augmentation axial;
  axial.kind = Augmentation::Kind::kAxial;
  axial.center_runs = 6;
  const study::Plan plan = study::augmented_plan(directory, axial);
  const study::Plan fccd =
      study::make_plan(study::parse_study(three_factors("{type: fccd, center_runs: 6}"), "s.yaml"));
  CHECK(plan.runs.size() == fccd.runs.size());
  CHECK(settings_of(plan, 0) == settings_of(fccd, 0));
}

TEST_CASE("The runs that help most complete what is there", "[study][augment]") {
  // Three corners of a square are measured: the interaction requires the fourth.
  const TemporaryDirectory temporary;
  std::ofstream(temporary.path() / "t.csv") << "a,b\n-1,-1\n1,-1\n-1,1\n1,1\n";
  const study::Study study = study::parse_study(
      "seed: 1\ncommand: [/bin/true]\nfactors:\n  a: {low: -1, high: 1}\n  b: {low: -1, high: 1}\n"
      "model: interactions\ndesign: {type: table, file: t.csv}\nresponses: {y: {}}\n",
      temporary.path() / "s.yaml");
  const study::StudyDirectory directory =
      study::create_directory(temporary.path() / "s", study, study::make_plan(study), false);
  int corner = 0;
  for (const study::PlannedRun& run : directory.plan.runs) {
    const bool last = run.settings == std::vector<double>{1, 1};
    if (last) corner = run.run;
    record(directory, run.run, last ? study::RunStatus::kFailed : study::RunStatus::kCompleted);
  }

  SECTION("a run that failed is one that is missing") {
    const study::Plan plan =
        study::augmented_plan(directory, optimal(directory, 1, "interactions"));
    REQUIRE(plan.runs.size() == 5);
    CHECK(plan.runs.back().settings == std::vector<double>{1, 1});
    CHECK(plan.runs.back().replicate == 2);
  }
  SECTION("settings found infeasible are not proposed again") {
    study::Journal journal(directory.journal(), study.name, directory.plan_hash);
    study::RunRecord again;
    again.run = corner;
    again.attempt = 2;
    again.status = study::RunStatus::kInfeasible;
    journal.append(again);
    const study::Plan plan =
        study::augmented_plan(directory, optimal(directory, 1, "interactions"));
    CHECK(plan.runs.back().settings != std::vector<double>{1, 1});
    const Eigen::MatrixXd x =
        doe::Model::named("interactions", study.factors).matrix(plan.coded(study.factors));
    CHECK((x.transpose() * x).determinant() > 1);
  }
  SECTION("too few runs for the model is said") {
    CHECK_THROWS_WITH(study::augmented_plan(directory, optimal(directory, 1, "cubic")),
                      Catch::Contains("cannot determine"));
  }
}

TEST_CASE("A study keeps its results when runs are added", "[study][augment]") {
  const TemporaryDirectory temporary;
  study::StudyDirectory directory =
      planned(temporary, three_factors("{type: fractional-factorial, runs: 4, center_runs: 0}"));
  record(directory, 2, study::RunStatus::kCompleted);
  Augmentation fold;
  fold.kind = Augmentation::Kind::kFoldOver;
  for (const std::size_t runs : {8U, 16U}) {  // twice: then the sheet is outdated, too
    study::extend_directory(directory, study::augmented_plan(directory, fold));
    const study::StudyDirectory reopened = study::open_directory(directory.path);
    CHECK(reopened.plan.runs.size() == runs);
    CHECK(reopened.plan_hash == directory.plan_hash);
    record(reopened, static_cast<int>(runs), study::RunStatus::kCompleted);
    CHECK(study::read_journal(reopened.journal()).warnings.empty());
  }
  CHECK(study::read_journal(directory.journal()).records.size() == 3);
}

TEST_CASE("Runs added to a study in blocks are a block of their own", "[study][augment]") {
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: fccd, blocks: 2, center_runs: 4}"));
  const study::Plan plan = study::augmented_plan(directory, optimal(directory, 3, "linear"));
  for (std::size_t i = directory.plan.runs.size(); i < plan.runs.size(); ++i) {
    CHECK(plan.runs[i].block == 3);
  }
}

TEST_CASE("Added runs serve the terms that may matter too", "[study][augment]") {
  // Supersaturated: six factors in four runs; four more must separate the effects, not replicate
  // runs.
  const TemporaryDirectory temporary;
  std::string text = "seed: 1\ncommand: [/bin/true]\nfactors:\n";
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    text += fmt::format("  {}: {{low: -1, high: 1}}\n", name);
  }
  text +=
      "model: [\"1\"]\ndesign: {type: d-optimal, runs: 4, possible: [a, b, c, d, e, f]}\n"
      "responses: {y: {}}\n";
  const study::StudyDirectory directory = planned(temporary, text);
  Augmentation augmentation;
  augmentation.runs = 4;
  augmentation.model = directory.study.model;
  const study::Plan plan = study::augmented_plan(directory, augmentation);
  const Eigen::MatrixXd x = plan.coded(directory.study.factors);
  REQUIRE(x.rows() == 8);
  CHECK((x.transpose() * x).isApprox(8 * Eigen::MatrixXd::Identity(6, 6)));  // orthogonal
}

TEST_CASE("Runs that a fold-over may not have are counted", "[study][augment]") {
  const TemporaryDirectory temporary;
  std::string text = three_factors("{type: fractional-factorial, runs: 4, center_runs: 0}");
  text.replace(text.find("model:"), 0, "constraints: [\"a + b + c >= -2\"]\n");
  const study::StudyDirectory directory = planned(temporary, text);
  Augmentation fold;
  fold.kind = Augmentation::Kind::kFoldOver;
  const study::Plan plan = study::augmented_plan(directory, fold);
  CHECK(plan.runs.size() == 7);  // all low is forbidden
  CHECK_THAT(plan.notes.back(), Catch::Contains("1 of 4 runs left out"));
  CHECK(plan.notes.size() == directory.plan.notes.size() + 1);  // keeps the notes of the plan
}

TEST_CASE("A Sobol' sequence goes on where it ended", "[study][augment]") {
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: sobol, runs: 16}"));
  Augmentation more;
  more.design = "sobol";
  more.runs = 16;
  const study::Plan whole =
      study::make_plan(study::parse_study(three_factors("{type: sobol, runs: 32}"), "s.yaml"));
  CHECK(settings_of(study::augmented_plan(directory, more), 0) == settings_of(whole, 0));
}

TEST_CASE("A repeated run is a replicate in its block that is known as one", "[study][augment]") {
  const TemporaryDirectory temporary;
  const study::StudyDirectory directory =
      planned(temporary, three_factors("{type: full-factorial, replicates: 2}"));
  const study::Plan plan = study::repeated_plan(directory.plan, directory.study, {5, 2});
  REQUIRE(plan.runs.size() == 18);
  CHECK(plan.runs[16].settings == plan.runs[4].settings);
  CHECK(plan.runs[16].replicate == 3);  // the design contains each point twice
  CHECK(plan.runs[16].block == plan.runs[4].block);
  CHECK(study::repeated_run(plan, 17) == 5);
  CHECK(study::repeated_run(plan, 18) == 2);
  for (int run = 1; run <= 16; ++run) CHECK_FALSE(study::repeated_run(plan, run));
  // The sheet identifies replicates, so an opened directory does too; and a replicate may be
  // replicated.
  study::StudyDirectory extended = directory;
  study::extend_directory(extended, plan);
  const study::StudyDirectory opened = study::open_directory(directory.path);
  CHECK(opened.plan_hash == directory.plan_hash);
  const study::Plan twice = study::repeated_plan(opened.plan, opened.study, {17});
  CHECK(study::repeated_run(twice, 19) == 5);
  CHECK(twice.runs[18].replicate == 4);
}
