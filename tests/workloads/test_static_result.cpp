// Responses of static-inference from synthetic measurements of known results.
#include <catch2/catch.hpp>

#include "workloads/static/static_result.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

Pass pass(double total_s, std::int64_t images, std::int64_t detections) {
  Pass made{total_s, {}, 0.5};
  made.work.images = images;
  made.work.detections = detections;
  made.work.times[Stage::decode] = 0.25;
  made.work.times[Stage::infer] = 1.5;
  made.work.classes[1] = 0b101;
  return made;
}

JobMeasurement measurement_of(std::vector<Pass> passes) { return {std::move(passes), {1, 9}}; }

ResultContext context(Head head) {
  JobPlan plan;
  plan.images = 40;
  plan.frames_per_second = 10;
  return {head, plan, 4, 5.0, 2};
}

}  // namespace

TEST_CASE("frames are in time if a viewer from the first result on never waits", "[static]") {
  JobPlan plan;
  plan.images = 6;
  plan.batch = 2;
  plan.frames_per_second = 10;
  // Due: 1.0 1.1 | 1.2 1.3 | 1.4 1.5.
  CHECK(fraction_in_time({1.0, 1.2, 1.4}, plan) == 1);
  CHECK(fraction_in_time({1.0, 1.25, 1.4}, plan) == Approx(5.0 / 6));
  CHECK(fraction_in_time({1.0, 1.2, 1.6}, plan) == Approx(4.0 / 6));
  CHECK(fraction_in_time({1.0, 9.0, 9.0}, plan) == Approx(2.0 / 6));
  // A later first result, relative to which all frames are due, leaves more time.
  CHECK(fraction_in_time({1.3, 1.25, 1.6}, plan) == 1);
}

TEST_CASE("responses are sums over passes, and means of the measurements", "[static]") {
  const Result result = static_result(
      {measurement_of({pass(1, 40, 80), pass(3, 40, 40)}), measurement_of({pass(4, 40, 0)})},
      context(DetectionHead{}));
  CHECK(result.repeats.at("throughput") == std::vector<double>{20, 10});
  CHECK(result.responses.at("throughput") == 15);
  CHECK(result.responses.at("total_time") == 3);
  CHECK(result.responses.at("images") == 40);
  CHECK(result.responses.at("image_time") == Approx(1.75 / 40));
  CHECK(result.responses.at("decode_time") == 0.25);
  CHECK(result.responses.at("infer_time") == 1.5);
  CHECK(result.responses.at("real_time_factor") == 1.5);  // 4 s of video in 2 s, and in 4 s
  CHECK(result.responses.at("deadline_met_share") == 0.5);
  CHECK(result.responses.at("speed_up") == 3);  // one executor alone: 5 images/s
  CHECK(result.responses.at("efficiency") == 0.75);
  CHECK(result.responses.at("detections_per_image") == Approx((1.5 + 0) / 2));
  CHECK(result.series.at("total_time") == std::vector<double>{1, 3, 4});
  CHECK(result.notes["passes"] == 3);
  CHECK(result.window == std::pair(1.0, 9.0));
}

TEST_CASE("what a network or a run cannot provide has a note instead", "[static]") {
  const std::vector<JobMeasurement> measured{measurement_of({pass(1, 40, 0)})};
  ResultContext classifier = context(ClassificationHead{1000});
  classifier.throughput_alone.reset();
  classifier.wanted = 3;
  const Result result = static_result(measured, classifier);
  for (const char* name :
       {"speed_up", "efficiency", "detections_per_image", "render_time", "write_time"}) {
    CAPTURE(name);
    CHECK_FALSE(result.responses.contains(name));
    CHECK(result.notes.contains(name));
  }
  CHECK(result.notes["classes_seen"] == 2);
  CHECK(result.notes["repeats"] == "1 of 3 measurements fit into the time limit");
  CHECK(result.repeats.empty());

  classifier.executors = 1;
  CHECK(static_result(measured, classifier).responses.at("speed_up") == 1);
  const Result heat_map = static_result(measured, context(HeatMapHead{256}));
  for (const Response& response : static_responses())
    if (response.name != "roofline_fraction")  // added where the peak rates are known
      CHECK(heat_map.responses.contains(response.name));
}
