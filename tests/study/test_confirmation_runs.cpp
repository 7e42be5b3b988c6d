#include <algorithm>
#include <catch2/catch.hpp>

#include "study/augment.h"
#include "study/confirmation_runs.h"
#include "study/directory/directory.h"
#include "study/learnt_runs.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using study::PlannedRun;
using study::ValidatedSettings;

namespace {

study::Study parsed(const std::string& design = "{type: fccd, center_runs: 2}",
                    const std::string& of_a = "") {
  return study::parse_study(
      "seed: 3\ncommand: [/bin/true]\nfactors:\n  a: {low: -1, high: 1, baseline: 1" + of_a +
          "}\n  b: {low: -1, high: 1, baseline: -1}\ndesign: " + design +
          "\nresponses: {y: {goal: maximize}}\n",
      "s.yaml");
}

const ValidatedSettings kConfirmed{{0.25, 0.5}, std::vector<double>{1, -1}};
const ValidatedSettings kOther{{-0.5, 0.5}, std::vector<double>{1, -1}};

int validating(const study::Plan& plan) {
  return static_cast<int>(std::count_if(plan.runs.begin(), plan.runs.end(),
                                        [](const PlannedRun& run) { return run.validates(); }));
}

}  // namespace

TEST_CASE("Confirmation and baseline runs are appended in pairs, in random order",
          "[study][confirmation]") {
  const study::Study study = parsed();
  const study::Plan plan = study::make_plan(study);
  const auto n = plan.runs.size();
  const study::Plan more = study::confirmation_plan(plan, study, kConfirmed, 20);
  REQUIRE(more.runs.size() == n + 40);
  int confirmation_first = 0;
  for (std::size_t i = n; i < more.runs.size(); i += 2) {
    const PlannedRun &one = more.runs[i], &two = more.runs[i + 1];
    CHECK(one.type != two.type);
    CHECK(one.validates());
    const bool first = one.type == doe::PointType::kConfirmation;
    confirmation_first += first ? 1 : 0;
    CHECK((first ? one : two).settings == kConfirmed.settings);
    CHECK((first ? two : one).settings == *kConfirmed.baseline);
    CHECK(one.run == static_cast<int>(i) + 1);
    CHECK_FALSE(study::repeated_run(more, one.run));  // its own position in the standard order
  }
  CHECK(confirmation_first > 3);  // fails for one seed in 400, not for this one
  CHECK(confirmation_first < 17);
  CHECK(study::confirmation_plan(plan, study, kConfirmed, 20).runs.back().type ==
        more.runs.back().type);
}

TEST_CASE("Validation runs are never added twice, but a larger number is made up",
          "[study][confirmation]") {
  const study::Study study = parsed();
  const study::Plan once = study::confirmation_plan(study::make_plan(study), study, kConfirmed, 3);
  CHECK(study::confirmation_plan(once, study, kConfirmed, 3).runs.size() == once.runs.size());
  CHECK(study::confirmation_plan(once, study, kConfirmed, 2).runs.size() == once.runs.size());
  const study::Plan more = study::confirmation_plan(once, study, kConfirmed, 5);
  CHECK(more.runs.size() == once.runs.size() + 4);
  CHECK(study::validation_runs(more, kConfirmed).confirmation.size() == 5);
  CHECK(study::validation_runs(more, kConfirmed).baseline.size() == 5);
}

TEST_CASE("Each optimum has its own runs of today's settings", "[study][confirmation]") {
  const study::Study study = parsed();
  study::Plan plan = study::confirmation_plan(study::make_plan(study), study, kConfirmed, 3);
  plan = study::confirmation_plan(plan, study, kOther, 2);
  CHECK(validating(plan) == 10);
  const study::ValidationRuns first = study::validation_runs(plan, kConfirmed);
  const study::ValidationRuns second = study::validation_runs(plan, kOther);
  CHECK(first.baseline.size() == 3);
  CHECK(second.baseline.size() == 2);
  CHECK(first.all().back() < second.all().front());
  const auto others = study::other_confirmations(plan, kOther.settings);
  REQUIRE(others.size() == 1);
  CHECK(others.front().settings == kConfirmed.settings);
  CHECK(others.front().runs == first.confirmation);
}

TEST_CASE("Where today's settings are the best, or none, they are not run besides",
          "[study][confirmation]") {
  const study::Study study = parsed();
  const study::Plan plan = study::make_plan(study);
  for (const ValidatedSettings& assessed :
       {ValidatedSettings{{1, -1}, std::vector<double>{1, -1}}, ValidatedSettings{{0, 0}, {}}}) {
    const study::Plan more = study::confirmation_plan(plan, study, assessed, 4);
    CHECK(more.runs.size() == plan.runs.size() + 4);
    CHECK(study::validation_runs(more, assessed).baseline.empty());
  }
}

TEST_CASE("Validation runs are no part of the design", "[study][confirmation]") {
  const tests::TemporaryDirectory temporary;
  const study::Study study = parsed();
  study::StudyDirectory directory =
      study::create_directory(temporary.path() / "s", study, study::make_plan(study), false);
  const doe::Evaluation before = directory.plan.evaluation;
  const auto n = directory.plan.runs.size();
  study::extend_directory(directory,
                          study::confirmation_plan(directory.plan, study, kConfirmed, 2));
  study::StudyDirectory read = study::open_directory(directory.path);
  REQUIRE(read.plan.runs.size() == n + 4);
  CHECK(study::validation_runs(read.plan, kConfirmed).all() ==
        study::validation_runs(directory.plan, kConfirmed).all());
  CHECK(read.plan.coded(study.factors).rows() == static_cast<Eigen::Index>(n));
  CHECK(read.plan.evaluation.runs == before.runs);

  study::Augmentation fold;
  fold.kind = study::Augmentation::Kind::kFoldOver;
  const study::Plan folded = study::augmented_plan(read, fold);
  CHECK(folded.runs.size() == n + 4 + n);
  CHECK(folded.runs.back().block == 1);  // the design has no blocks
  CHECK(validating(folded) == 4);
}

TEST_CASE("In a split-plot design each validation run is set up anew", "[study][confirmation]") {
  const study::Study study =
      parsed("{type: d-optimal, runs: 12, whole_plots: 4}", ", hard_to_change: true");
  const study::Plan plan = study::make_plan(study);
  const study::Plan more = study::confirmation_plan(plan, study, kConfirmed, 2);
  int plot = 4;
  for (std::size_t i = plan.runs.size(); i < more.runs.size(); ++i) {
    CHECK(more.runs[i].whole_plot == ++plot);
  }
}

TEST_CASE("Runs that a search has learnt from test nothing any more", "[study][confirmation]") {
  const study::Study study = parsed();
  const study::Plan planned = study::make_plan(study);
  study::Plan plan = study::confirmation_plan(planned, study, kConfirmed, 2);
  const PlannedRun confirmation = plan.runs.back();
  CHECK(study::tests_prediction(plan, confirmation));
  CHECK_FALSE(study::tests_prediction(plan, plan.runs.front()));
  CHECK(study::validation_runs(plan, kConfirmed).confirmation.size() == 2);
  CHECK(study::other_confirmations(plan, kOther.settings).size() == 1);

  study::append_run(plan, doe::PointType::kProposed, {0.1, 0.2});
  CHECK_FALSE(study::tests_prediction(plan, confirmation));
  CHECK(study::validation_runs(plan, kConfirmed).all().empty());
  CHECK(study::other_confirmations(plan, kOther.settings).empty());

  // The same settings are confirmed by runs of their own.
  const auto before = plan.runs.size();
  plan = study::confirmation_plan(std::move(plan), study, kConfirmed, 2);
  CHECK(plan.runs.size() == before + 4);
  CHECK(study::validation_runs(plan, kConfirmed).all().size() == 4);
  CHECK(study::tests_prediction(plan, plan.runs.back()));
}
