#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/best_run.h"
#include "analysis/confirmation.h"
#include "analysis/design_quality.h"
#include "analysis/today.h"
#include "analysis/verdict.h"
#include "base/random.h"
#include "reports/json/analysis_json.h"
#include "reports/page/report_page.h"
#include "study/directory/import.h"
#include "study/directory/journal.h"
#include "surfaces/optimum/confirmation.h"
#include "tests/analysis/example_studies.h"
#include "tests/surfaces/random_normal.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using Catch::Contains;
using Catch::StartsWith;
using Validation = analysis::Confirmation::Validation;

namespace {

/// y = 100 - 20 a^2 - 10 (b - 0.5)^2 and cost = 10 + 4 a + 2 b.
double y_at(double a, double b) { return 100 - 20 * a * a - 10 * (b - 0.5) * (b - 0.5); }
double cost_at(double a, double b) { return 10 + 4 * a + 2 * b; }

constexpr const char* kText = R"(study: known
seed: 4
command: [./bench, --a, "{a}", --b, "{b}"]
factors:
  a: {low: -1, high: 1, baseline: -1}
  b: {low: -1, high: 1, baseline: -1}
responses:
  y: {unit: points, goal: maximize}
  cost: {unit: s, goal: at_most, high: 14}
)";

/// A study with completed runs, then confirmed with values chosen by the test.
struct Case {
  tests::TemporaryDirectory folder;
  study::StudyDirectory directory;
  analysis::Analysis analysis;

  /// `noise` is added to y, alike for no two neighbours.
  explicit Case(const std::string& text = kText, double noise = 0) {
    const auto data = folder.path() / "runs.csv";
    std::ofstream csv(data);
    csv << "a,b,y,cost\n";
    RandomStream random(11, 0);
    for (const double a : {-1.0, 0.0, 1.0}) {
      for (const double b : {-1.0, 0.0, 1.0}) {
        for (int replicate = 0; replicate < 2; ++replicate) {
          const double ripple = replicate == 0 ? 1 : -1;  // keeps the fit exact
          csv << a << ',' << b << ','
              << y_at(a, b) + 0.4 * ripple + noise * tests::random_normal(random) << ','
              << cost_at(a, b) + 0.1 * ripple << '\n';
        }
      }
    }
    csv.close();
    directory = study::import_runs(study::parse_study(text, folder.path() / "known.yaml"), data,
                                   folder.path() / "known", true);
    analysis = analysis::analyse(directory);
  }

  void plan(int runs) {
    study::extend_directory(directory,
                            study::confirmation_plan(directory.plan, directory.study,
                                                     analysis::validated_settings(analysis), runs));
  }

  /// Records the confirmation and baseline runs: the true response with a ripple, times a factor.
  /// The first `failures` of each fail.
  void measure(double times_y = 1, double times_today = 1, double times_cost = 1,
               study::RunStatus status = study::RunStatus::kCompleted, int failures = 0) {
    {
      constexpr std::array kRipple{0.0, 1.0, -1.0, 0.5, -0.5};  // sums to zero over five runs
      std::map<doe::PointType, int> made;
      const study::DirectoryLock lock(directory.path);
      study::Journal journal(directory.journal(), directory.study.name, directory.plan_hash);
      for (const study::PlannedRun& run : directory.plan.runs) {
        if (!run.validates() || analysis.records.contains(run.run)) continue;
        const double times = run.type == doe::PointType::kBaseline ? times_today : times_y;
        const int before = made[run.type]++;
        const double ripple = kRipple[static_cast<std::size_t>(before) % kRipple.size()];
        const double a = run.settings[0], b = run.settings[1];
        study::RunRecord record;
        record.run = run.run;
        record.status = before < failures ? study::RunStatus::kFailed : status;
        if (record.status == study::RunStatus::kCompleted) {
          record.responses = {{"y", times * y_at(a, b) + 0.4 * ripple},
                              {"cost", times_cost * cost_at(a, b) + 0.1 * ripple}};
        }
        journal.append(record);
      }
    }
    analysis = analysis::analyse(directory);
  }

  analysis::Confirmation confirmation() const { return *analysis::confirmation_of(analysis); }
  analysis::Verdict verdict() const { return analysis::verdict(analysis); }
};

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), replacement);
}

}  // namespace

TEST_CASE("Runs that bear the prediction out confirm it", "[reports][confirmation]") {
  Case study;
  CHECK_FALSE(analysis::confirmation_of(study.analysis));
  CHECK(study.verdict().status == analysis::Status::kUnconfirmed);
  CHECK(study.verdict().next_command == "doetune confirm " + study.directory.path.string());
  const std::vector<double> optimum = study.analysis.optimum->best.settings;
  const double predicted = study.analysis.optimum->best.predictions[0].mean;
  study.plan(5);
  CHECK(study.confirmation().missing == 10);
  // Confirmation runs are not part of the design: it was executed completely, with one leverage per
  // run.
  const analysis::DesignQuality quality = analysis::design_quality(study.analysis);
  CHECK_FALSE(quality.made);
  CHECK(quality.runs.size() == quality.shown().leverages.size());
  CHECK(study.verdict().status == analysis::Status::kUnconfirmed);  // not partial
  study.measure();
  // Confirmation runs are not fitted: neither the optimum nor the prediction changes.
  CHECK(study.analysis.optimum->best.settings == optimum);
  CHECK(study.analysis.optimum->best.predictions[0].mean == predicted);
  CHECK(study.analysis.responses[0].fit->n == 18);
  const analysis::Confirmation confirmation = study.confirmation();
  CHECK(confirmation.validation == Validation::kConfirmed);
  REQUIRE(confirmation.responses.size() == 2);
  const analysis::ConfirmedResponse& y = confirmation.responses[0];
  CHECK(y.runs == 5);
  CHECK(y.baseline_runs == 5);
  CHECK(y.agrees == true);
  CHECK(y.gain_shown == analysis::GainShown::kYes);
  CHECK(y.gain->interval->low > 0);
  CHECK(confirmation.responses[1].limit == analysis::LimitHeld::kYes);
  // Two responses are tested jointly: each at 97.5 %.
  const auto range = surfaces::mean_range(y.predicted, 5, 0.975);
  CHECK(y.joint_range->low == range->low);
  CHECK(y.joint_range->high == range->high);
  const analysis::Verdict verdict = study.verdict();
  CHECK(verdict.status == analysis::Status::kConfirmed);
  CHECK_THAT(verdict.headline, Contains("5 runs of this configuration agree with the prediction") &&
                                   Contains("points; cost"));
}

TEST_CASE("Runs that disagree are reported with their distance", "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure(0.8);
  CHECK(study.confirmation().validation == Validation::kNotConfirmed);
  CHECK_FALSE(study.confirmation().baseline_disagrees());
  const analysis::Verdict verdict = study.verdict();
  CHECK(verdict.status == analysis::Status::kNotConfirmed);
  CHECK_THAT(verdict.headline, Contains("y was ") && Contains("expected (20 % below") &&
                                   Contains("All limits are met."));
  CHECK_THAT(verdict.next_command, Contains("doetune augment") && Contains("--runs 4"));
}

TEST_CASE(
    "Where the baseline differs from its prediction, the surface is wrong or the system changed",
    "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure(0.8, 0.8);
  CHECK(study.confirmation().baseline_disagrees());
  CHECK_THAT(study.verdict().headline,
             Contains("the surface is wrong at both, or the system has changed"));
  CHECK_THAT(study.verdict().next_command, Contains("doetune status"));
  CHECK_THAT(study.verdict().next_reason, Contains("show a change") && Contains("doetune augment"));
}

TEST_CASE("A limit that the measured mean misses is not confirmed", "[reports][confirmation]") {
  // The limit is active at the optimum, so that a cost slightly above its prediction violates it.
  Case study(with(kText, "at_most, high: 14", "at_most, high: 10.5, confidence: 0"));
  study.plan(5);
  study.measure(1, 1, 1.003);
  const analysis::ConfirmedResponse cost = study.confirmation().responses[1];
  REQUIRE(cost.agrees == true);
  REQUIRE(cost.limit == analysis::LimitHeld::kNo);
  CHECK(study.verdict().status == analysis::Status::kNotConfirmed);
  CHECK_THAT(study.verdict().headline, Contains("violates its limit (at most 10.5 s)") &&
                                           Contains("agrees with the prediction, but cost was"));
}

TEST_CASE("A gain whose interval contains none is inconclusive", "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure(1, y_at(0, 0.5) / y_at(-1, -1));  // the baseline gives as much
  CHECK(study.confirmation().responses[0].gain_shown == analysis::GainShown::kOpen);
  CHECK(study.confirmation().doubt == analysis::Confirmation::Doubt::kGain);
  const analysis::Verdict verdict = study.verdict();
  CHECK(verdict.status == analysis::Status::kInconclusive);
  CHECK(analysis::status_name(verdict.status) == "INCONCLUSIVE");
  CHECK_THAT(verdict.next_command, Contains("doetune confirm") && Contains("--runs 10"));
  CHECK_THAT(verdict.headline, Contains("includes zero (y ") && Contains("95 %"));
}

TEST_CASE("No gain over today's settings is said", "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure(1, 1.1 * y_at(0, 0.5) / y_at(-1, -1));  // the baseline gives a tenth more
  CHECK(study.confirmation().responses[0].gain_shown == analysis::GainShown::kNo);
  CHECK(study.confirmation().validation == Validation::kNoGain);
  CHECK_THAT(study.verdict().headline, Contains("no gain over the baseline (y -"));

  Case best(with(with(kText, "a: {low: -1, high: 1, baseline: -1}",
                      "a: {low: -1, high: 1, step: 0.5, baseline: 0}"),
                 "b: {low: -1, high: 1, baseline: -1}",
                 "b: {low: -1, high: 1, step: 0.5, baseline: 0.5}"));
  best.plan(3);
  best.measure();
  CHECK(best.confirmation().planned.baseline.empty());
  CHECK(best.verdict().status == analysis::Status::kNoGain);
  CHECK_THAT(best.verdict().headline, Contains("The baseline is already the best configuration"));
}

TEST_CASE("A goal that moves the optimum leaves it unconfirmed", "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure();
  study.directory.study.responses[1].high = 9;
  study.analysis = analysis::analyse(study.directory);
  CHECK_FALSE(analysis::confirmation_of(study.analysis));
  const analysis::Verdict verdict = study.verdict();
  CHECK(verdict.status == analysis::Status::kUnconfirmed);
  CHECK_THAT(verdict.caveats.front(),
             Contains("Another configuration was run for confirmation: a = "));
}

TEST_CASE("One run validates, but not the gain, and runs that fail validate nothing",
          "[reports][confirmation]") {
  Case one;
  one.plan(1);
  one.measure();
  CHECK(one.confirmation().validation == Validation::kConfirmed);
  CHECK_FALSE(one.confirmation().responses[0].gain_shown);

  Case failed;
  failed.plan(1);
  failed.measure(1, 1, 1, study::RunStatus::kFailed);
  CHECK(failed.confirmation().validation == Validation::kOpen);
  CHECK(failed.confirmation().failed == 2);
  CHECK_THAT(failed.verdict().caveats.front(), Contains("No confirmation run completed"));
}

TEST_CASE("Where all of several confirmation runs fail, the optimum is elsewhere",
          "[reports][confirmation]") {
  Case failed;
  const std::vector<double> before = failed.analysis.optimum->best.settings;
  failed.plan(3);
  failed.measure(1, 1, 1, study::RunStatus::kFailed);
  CHECK(failed.analysis.optimum->best.settings != before);
  CHECK_FALSE(analysis::confirmation_of(failed.analysis));
  CHECK(failed.verdict().status == analysis::Status::kUnconfirmed);
}

TEST_CASE("A range that allows anything confirms nothing", "[reports][confirmation]") {
  // Without a baseline, and with noise of which the factors explain nothing.
  Case study(with(with(kText, ", baseline: -1", ""), ", baseline: -1", ""), 40);
  study.plan(5);
  study.measure();
  const analysis::ConfirmedResponse y = study.confirmation().responses[0];
  REQUIRE(y.agrees == true);
  CHECK(y.allows_anything);
  CHECK_FALSE(y.gain_shown);
  CHECK(study.confirmation().doubt == analysis::Confirmation::Doubt::kRange);
  const analysis::Verdict verdict = study.verdict();
  CHECK(verdict.status == analysis::Status::kInconclusive);
  CHECK_THAT(verdict.headline, Contains("nearly any result would agree: y ("));
  CHECK_THAT(verdict.next_command, Contains("doetune augment"));
}

TEST_CASE("A range that allows anything shows nothing of the baseline either",
          "[reports][confirmation]") {
  const std::string stepped =
      with(with(kText, "a: {low: -1, high: 1, baseline: -1}", "a: {low: -1, high: 1, step: 1}"),
           "b: {low: -1, high: 1, baseline: -1}", "b: {low: -1, high: 1, step: 1}");
  const std::vector<double> best = Case(stepped, 40).analysis.optimum->best.settings;
  const std::string text =
      with(with(stepped, "a: {", "a: {baseline: " + std::to_string(std::lround(best[0])) + ", "),
           "b: {", "b: {baseline: " + std::to_string(std::lround(best[1])) + ", ");
  Case study(text, 40);
  study.plan(5);
  study.measure();
  const analysis::Confirmation confirmation = study.confirmation();
  REQUIRE(confirmation.is_baseline);
  REQUIRE(confirmation.responses[0].agrees == true);
  REQUIRE(confirmation.responses[0].allows_anything);
  CHECK(confirmation.doubt == analysis::Confirmation::Doubt::kRange);
  CHECK(study.verdict().status == analysis::Status::kInconclusive);
}

TEST_CASE("A target out of reach is said to be missed", "[reports][confirmation]") {
  const auto first_caution = [](const std::string& target) {
    const Case study(with(kText, "goal: maximize", "goal: target, target: " + target));
    const std::vector<std::string> cautions = study.verdict().caveats;
    return cautions.empty() ? std::string() : cautions.front();
  };
  CHECK_THAT(first_caution("300"),  // y is at most 100
             StartsWith("y is predicted to miss its target of 300 points by 200."));
  CHECK_THAT(first_caution("90"), !Contains("target"));
}

TEST_CASE("There is no gain over a baseline that cannot run", "[reports][confirmation]") {
  Case study;
  CHECK_FALSE(study.analysis.details->gains.empty());
  for (auto& [run, record] : study.analysis.records) {
    const auto& planned = study.directory.plan.runs[static_cast<std::size_t>(run - 1)];
    if (planned.settings == std::vector<double>{-1, -1})
      record.status = study::RunStatus::kInfeasible;
  }
  CHECK(analysis::baseline_cannot_run(study.analysis));
  const std::string html = reports::report_html(study.analysis);
  CHECK_THAT(html, Contains("The baseline cannot run") && !Contains("Relative to the baseline, "));
}

TEST_CASE("Too few completed confirmation runs are inconclusive", "[reports][confirmation]") {
  Case study;
  study.plan(5);
  study.measure(1, 1, 1, study::RunStatus::kCompleted, 3);
  const analysis::Confirmation confirmation = study.confirmation();
  CHECK(confirmation.completed == 2);
  CHECK(confirmation.missing == 0);
  CHECK(confirmation.doubt == analysis::Confirmation::Doubt::kFewRuns);
  CHECK(study.verdict().status == analysis::Status::kInconclusive);
  CHECK_THAT(study.verdict().headline,
             Contains("2 runs of this configuration agree") &&
                 Contains("fewer than half of the planned runs completed"));
}

TEST_CASE("Confirmation runs correct what the fit promised", "[reports][confirmation]") {
  Case study;
  const analysis::ResponseAnalysis& before = study.analysis.responses[0];
  CHECK(analysis::trust_after({}, before).level == analysis::Trust::Level::kGood);
  study.plan(5);
  study.measure(0.8);
  const analysis::Trust after =
      analysis::trust_after(study.confirmation(), study.analysis.responses[0]);
  CHECK(after.level == analysis::Trust::Level::kContradicted);
  CHECK_THAT(after.sentence, Contains("the mean of 5 runs was") && Contains("20 % below") &&
                                 Contains("by its own runs it predicts new runs well"));
  const std::string html = reports::report_html(study.analysis);
  CHECK_THAT(html, Contains("○ y: contradicted by the confirmation runs"));
  CHECK_THAT(html, !Contains("y: reliable"));
}

TEST_CASE("The best measured run stands beside the best predicted settings",
          "[reports][confirmation]") {
  Case study;
  const auto lead = analysis::preference(study.analysis);
  REQUIRE(lead);
  CHECK_FALSE(lead->is_measured);
  CHECK_THAT(lead->reason, Contains("Prefer the optimum"));
  CHECK_THAT(analysis::preference_text(study.analysis), Contains("Best measured: run "));
  // Confirmation runs a fifth lower than predicted leave the best run of the plan far ahead.
  study.plan(5);
  study.measure(0.8);
  const auto after = analysis::preference(study.analysis);
  CHECK(after->is_measured);
  CHECK_THAT(after->reason, Contains("Prefer it, and measure it again"));
  const auto json = nlohmann::json::parse(reports::optimum_json(study.analysis));
  CHECK(json.at("best_measured").at("is_preferred") == true);
  CHECK(json.at("best_measured").at("run") == after->run.run);
}

TEST_CASE("A run is compared with the prediction where few runs confirm it",
          "[reports][confirmation]") {
  // Of two runs Student's interval is 17 standard deviations wide to either side.
  Case study(kText, 5);
  const std::string before = analysis::preference(study.analysis)->reason;
  study.plan(2);
  study.measure(0.96);
  REQUIRE(study.confirmation().responses[0].agrees == true);
  CHECK(analysis::preference(study.analysis)->reason == before);
  Case more(kText, 5);
  more.plan(5);
  more.measure(0.96);
  CHECK(analysis::preference(more.analysis)->reason != before);
}

TEST_CASE("Settings that their confirmation contradicts are not preferred either",
          "[reports][confirmation]") {
  Case study;
  study.plan(1);  // of a single run there is no interval, and its value counts, not the prediction
  study.measure(0.8);
  REQUIRE(study.confirmation().validation == analysis::Confirmation::Validation::kNotConfirmed);
  const auto lead = analysis::preference(study.analysis);
  CHECK(lead->is_measured);
  Case lower;
  lower.plan(5);
  lower.measure(0.97);
  REQUIRE(lower.confirmation().validation == analysis::Confirmation::Validation::kNotConfirmed);
  const auto as_good = analysis::preference(lower.analysis);
  CHECK_FALSE(as_good->is_measured);
  CHECK_THAT(as_good->reason, StartsWith("The run lies within the noise of its single runs"));
}

TEST_CASE("The best measured run keeps the factors that are held", "[reports][confirmation]") {
  const Case study;
  const auto best_with = [&](std::map<std::string, double> hold) {
    analysis::AnalysisOptions options;
    options.hold = std::move(hold);
    return analysis::best_measured_run(analysis::analyse(study.directory, options));
  };
  const auto a_of = [&](const analysis::BestRun& best) {
    return study.directory.plan.runs[static_cast<std::size_t>(best.run - 1)].settings[0];
  };
  REQUIRE(best_with({}));
  CHECK(a_of(*best_with({})) == 0);
  REQUIRE(best_with({{"a", 1}}));
  CHECK(a_of(*best_with({{"a", 1}})) == 1);
  CHECK_FALSE(best_with({{"a", 0.25}}));  // at which nothing was measured
}

TEST_CASE("Settings that cannot run are no optimum any more", "[reports][confirmation]") {
  Case study;
  const std::vector<double> before = study.analysis.optimum->best.settings;
  study.plan(2);
  study.measure(1, 1, 1, study::RunStatus::kInfeasible);
  CHECK(study.analysis.optimum->best.settings != before);
  CHECK_THAT(study.verdict().caveats.front(), Contains("was the best but could not run"));
}

TEST_CASE("Gains read as people say them", "[reports][confirmation]") {
  using analysis::gain_text;
  using surfaces::Interval;
  CHECK(gain_text({"y", 5, Interval{4, 6}, 1.382, Interval{1.311, 1.449}}, "s") ==
        "+38 % (95 % +31 to +45 %)");
  CHECK(gain_text({"y", 5, Interval{4, 6}, 0.803, Interval{0.801, 0.805}}, "s") ==
        "-19.7 % (95 % -19.9 to -19.5 %)");
  CHECK(gain_text({"y", 5, Interval{4, 6}, 4.21, Interval{3.93, 4.52}}, "s") ==
        "4.21 times (95 % 3.93 to 4.52)");
  CHECK(gain_text({"y", -5, Interval{-6.1, -3.9}, {}, {}}, "s") == "-5.0 s (95 % -6.1 to -3.9)");
  CHECK(gain_text({"y", 5, {}, 1.5, {}}, "s") == "+50 %");
  CHECK(gain_text({"y", 5, {}, 2.996, Interval{2.99599996, 2.99600004}}, "s") ==
        "+199.60 % (95 % +199.60 to +199.60 %)");
  CHECK(gain_text({"y", 0.5, {}, {}, {}}, "") == "+0.5");
}

TEST_CASE("The report and optimum.json hold what confirmed the optimum", "[reports][html]") {
  Case study;
  study.plan(5);
  study.measure();
  const std::string html = reports::report_html(study.analysis);
  CHECK_THAT(html, Contains(">CONFIRMED<") && Contains("Relative to the baseline, measured: ") &&
                       Contains("data-label=\"Confirmed mean\"") &&
                       Contains("<span>./bench</span> <span>--a</span> ") &&
                       Contains("aria-label=\"settings as YAML\"") && Contains("✓ met"));
  const auto json = nlohmann::json::parse(reports::optimum_json(study.analysis)).at("confirmation");
  CHECK(json.at("judgement") == "confirmed");
  CHECK(json.at("runs").size() == 5);
  const auto& y = json.at("responses").at("y");
  CHECK(y.at("agrees") == true);
  CHECK(y.at("limit_held") == nullptr);
  CHECK(y.at("baseline").at("runs") == 5);
  CHECK(y.at("gain").at("ratio_interval")[0].get<double>() > 1);
  CHECK(json.at("responses").at("cost").at("limit_held") == "yes");
}
