#include <catch2/catch.hpp>

#include "study/directory/results.h"

using namespace doetune;
using namespace doetune::study;

namespace {

Study study_with_formulas() {
  Study study;
  doe::Factor batch_size;
  batch_size.name = "batch_size";
  batch_size.low = 1;
  batch_size.high = 64;
  doe::Factor precision;
  precision.name = "precision";
  precision.kind = doe::FactorKind::kCategorical;
  precision.level_names = {"fp32", "bf16"};
  study.factors = {batch_size, precision};
  Response throughput;
  throughput.name = "throughput";
  Response power;
  power.name = "power";
  Response per_joule;
  per_joule.name = "images_per_joule";
  per_joule.formula = "throughput / power";
  Response per_image;
  per_image.name = "energy_of_batch";
  per_image.formula = "batch_size / images_per_joule";
  study.responses = {throughput, power, per_joule, per_image};
  return study;
}

PlannedRun planned(int run, std::vector<double> settings) {
  PlannedRun planned_run;
  planned_run.run = run;
  planned_run.standard_order = 5;
  planned_run.settings = std::move(settings);
  return planned_run;
}

}  // namespace

TEST_CASE("A derived response may use measured and derived responses and factors",
          "[study][results]") {
  RunRecord record;
  auto& responses = record.responses;
  responses = {{"throughput", 900.0}, {"power", 300.0}};
  add_derived_responses(study_with_formulas(), planned(1, {12, 0}), record);
  CHECK(responses.at("images_per_joule") == 3.0);
  CHECK(responses.at("energy_of_batch") == 4.0);
}

TEST_CASE("A value that the transform of a goal does not take makes a completed run a failed one",
          "[study][results]") {
  StudyDirectory directory;
  directory.study = study_with_formulas();
  directory.plan.runs = {planned(1, {12, 0}), planned(2, {12, 0}), planned(3, {12, 0})};
  Response& power = directory.study.responses[1];
  power.transform = doe::TransformType::kLog;
  std::map<int, RunRecord> records;
  for (const auto& [run, watts] : {std::pair(1, 300.0), {2, 0.0}, {3, -1.0}}) {
    records[run].run = run;
    records[run].status = RunStatus::kCompleted;
    records[run].responses = {{"throughput", 900.0}, {"power", watts}};
  }
  const auto status_of = [&](int run) { return usable_records(directory, records).at(run).status; };
  CHECK(status_of(2) == RunStatus::kCompleted);  // without a goal only its own fit is concerned
  power.goal = doe::GoalType::kMinimize;
  CHECK(status_of(1) == RunStatus::kCompleted);
  CHECK(status_of(2) == RunStatus::kFailed);
  CHECK(status_of(3) == RunStatus::kFailed);
  CHECK(usable_records(directory, records).at(2).reason ==
        "power has a value that `transform: log` does not take, which needs positive responses");
  CHECK(with_derived_responses(directory, records).at(2).status == RunStatus::kCompleted);
}

TEST_CASE("A derived response without a finite value is left out, with those that use it",
          "[study][results]") {
  const Study study = study_with_formulas();
  RunRecord no_power;
  no_power.responses = {{"throughput", 900.0}};
  add_derived_responses(study, planned(1, {12, 0}), no_power);
  CHECK(no_power.responses.size() == 1);

  RunRecord power_0;
  power_0.responses = {{"throughput", 900.0}, {"power", 0.0}};
  add_derived_responses(study, planned(1, {12, 0}), power_0);
  CHECK(power_0.responses.size() == 2);
}

TEST_CASE("A formula may use what telemetry measured, unless a response has the name",
          "[study][results]") {
  Study study = study_with_formulas();
  RunRecord record;
  record.responses = {{"throughput", 900.0}, {"power", 300.0}};
  record.telemetry = {{"power", 1.0}, {"memory_peak", 2.0}};
  add_derived_responses(study, planned(1, {12, 0}), record);
  CHECK(record.responses.at("images_per_joule") == 3.0);  // uses the response, not the telemetry

  CHECK(uses_quantities(study));  // a response named power
  study.responses[1].name = "p";
  study.responses[2].formula = "throughput / p";
  CHECK_FALSE(uses_quantities(study));

  study.responses[2].formula = "throughput / memory_peak";
  CHECK(uses_quantities(study));
  add_derived_responses(study, planned(1, {12, 0}), record);
  CHECK(record.responses.at("images_per_joule") == 450.0);
}

TEST_CASE("The table of results has a row a planned run, empty where nothing was measured",
          "[study][results]") {
  StudyDirectory directory;
  directory.study = study_with_formulas();
  directory.plan.runs = {planned(1, {1, 0}), planned(2, {64, 1})};
  RunRecord record;
  record.run = 2;
  record.attempt = 3;
  record.status = RunStatus::kCompleted;
  record.host = "node1";
  record.start = "2026-11-21T07:38:18.123Z";
  record.duration_s = 1.5;
  record.responses = {{"throughput", 861.25}, {"power", 300.0}};

  CHECK(results_csv(directory, {{2, record}}) ==
        "run,standard_order,point_type,block,replicate,batch_size,precision,"
        "attempt,status,host,gpu,start,duration_s,"
        "throughput,power,images_per_joule,energy_of_batch\n"
        "1,5,factorial,1,1,1,fp32,,,,,,,,,,\n"
        "2,5,factorial,1,1,64,bf16,3,completed,node1,,2026-11-21T07:38:18.123Z,1.5,861.25,300,2."
        "870833333333333,22.293178519593617\n");
}
