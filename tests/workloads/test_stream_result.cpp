// Responses of stream-inference from micro-batches of known times.
#include <catch2/catch.hpp>

#include <numeric>

#include "workloads/stream/stream_result.h"

using namespace doetune;
using namespace doetune::workloads;
using doetune::measurement::StoppedBy;

namespace {

/// Micro-batches of 10 images that take 1, 2, ..., 10, 1, 2, ... seconds.
StreamMeasurement measured(int batches, double from_s = 0) {
  StreamMeasurement result;
  for (int i = 0; i < batches; ++i) {
    MicroBatch batch;
    batch.ready_s = from_s + 10 * i;
    batch.start_s = batch.ready_s + 0.5;
    batch.done_s = batch.start_s + 1 + i % 10;
    batch.work.images = 10;
    batch.work.detections = 20;
    batch.work.decode_s = 1;
    batch.work.infer_s = 3;
    batch.work.elapsed_s = 2;  // half of the four seconds are hidden
    batch.dropped = i % 2;
    result.batches.push_back(batch);
  }
  result.window = {from_s, from_s + 10 * batches};
  result.steady = true;
  result.stopped_by = StoppedBy::kPrecision;
  return result;
}

}  // namespace

TEST_CASE("responses are ratios of sums over the micro-batches", "[stream]") {
  const Result result = stream_result({measured(100)}, 1, 2);
  CHECK(result.responses.at("throughput") == Approx(10 / 5.5));
  CHECK(result.responses.at("processing_time") == Approx(5.5));
  CHECK(result.responses.at("processing_time_p50") == Approx(5));
  CHECK(result.responses.at("scheduling_delay") == Approx(0.5));
  CHECK(result.responses.at("decode_share") == Approx(0.25));
  CHECK(result.responses.at("detections_per_image") == Approx(2));
  CHECK(result.responses.at("pipeline_overlap") == Approx(2));
  CHECK(result.responses.at("dropped_share") == Approx(1 / 3.0));  // 50 of 150
  CHECK(mean_load({measured(100)}, {.interval = 2}) == Approx(5.5 / 2));
  CHECK(result.notes["busy_share"].get<double>() == Approx(2 / (5.5 * 2)));
  CHECK(result.window == std::pair(0.0, 1000.0));
  CHECK(result.steady == true);
  CHECK(result.stopped_by == "precision reached");
  CHECK(result.precision.at("processing_time") == Approx(0.1).margin(0.06));
  CHECK(result.precision.at("detections_per_image") == Approx(0).margin(1e-9));
}

TEST_CASE("repeats are reported one by one, and the worst of them is reported for all",
          "[stream]") {
  StreamMeasurement second = measured(50, 1000);
  second.steady = false;
  second.unsteady = "it still rose";
  second.stopped_by = StoppedBy::kMaxTime;
  const Result result = stream_result({measured(100), second}, 3, 1);
  CHECK(result.repeats.at("throughput").size() == 2);
  CHECK(result.repeats.at("processing_time_p50").size() == 2);
  CHECK(result.window == std::pair(0.0, 1500.0));
  CHECK(result.steady == false);
  CHECK(result.notes["steady"] == "it still rose");
  CHECK(result.notes["repeats"] == "2 of 3 measurements fit into the time limit");
  CHECK(result.stopped_by == "max_time");
  second.steady.reset();
  CHECK_FALSE(stream_result({measured(100), second}, 2, 1).steady);
}

TEST_CASE("a percentile needs its count in every measurement", "[stream]") {
  const Result result = stream_result({measured(1000), measured(661)}, 2, 1);
  CHECK(result.responses.count("processing_time_p99") == 0);
  CHECK(result.notes.contains("processing_time_p99"));
  CHECK(stream_result({measured(1000), measured(662)}, 2, 1).responses.at("processing_time_p99") ==
        Approx(10));
  CHECK(quantiles_of({"throughput", "processing_time_p99"}) == std::vector<double>{0.99});
}

TEST_CASE("a long series is given as means", "[stream]") {
  const Result result = stream_result({measured(25003)}, 1, 1);
  const auto& series = result.series.at("processing_time");
  CHECK(series.size() == 8335);
  CHECK(series[0] == Approx(2));  // of 1, 2 and 3 seconds
  CHECK(result.notes["series"] == "means of 3 micro-batches each");
  CHECK(stream_result({measured(10000)}, 1, 1).series.at("scheduling_delay").size() == 10000);
}
