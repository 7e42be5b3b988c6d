// The workload `spark-stream-inference`: the system of `stream-inference` on Spark itself.
//
// A Structured Streaming query (spark_application.h) finds the coded frames of each micro-batch by
// its file source. Each of its tasks analyses the share of one executor in its Python worker, by
// the same engine; the boxes go to Spark's file sink. Times are those of Spark's progress events:
// a micro-batch starts when Spark's trigger does, and is done when its offsets are committed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "workloads/shared_inputs.h"
#include "workloads/spark/spark_stream.h"
#include "workloads/stream/stream_inputs.h"
#include "workloads/stream/stream_result.h"
#include "workloads/timing/measured.h"
#include "workloads/timing/stopping_rule.h"
#include "workloads/workloads.h"

namespace doetune::workloads {
namespace {

/// Those of `stream-inference`, without what belongs to its own executors, and with Spark's.
std::vector<Input> inputs() {
  using enum InputKind;
  const std::set<std::string> left_out = {"sharing", "decoders", "decode_on", "roofline"};
  std::vector<Input> all;
  for (Input& input : stream_inputs()) {
    if (left_out.contains(input.name)) continue;
    if (input.name == "channels") input.words.clear();
    if (input.name == "codec") input.levels = {"mjpeg"};  // tasks take any frame of any camera
    all.push_back(std::move(input));
  }
  all.insert(
      all.end(),
      {{"gpus", integer, 0, "GPUs that Spark assigns; 0: the executors use CPUs", "", 0, 4096},
       {"master", text, nullptr,
        "Spark's master, as for spark-submit; default: a cluster on this machine "
        "(local-cluster) with a process for each executor"},
       {"submit", text, "spark-submit", "path of spark-submit, or its name in PATH"},
       {"spark_options", text, nullptr, "further options for spark-submit, separated by spaces"},
       {"folder", text, nullptr,
        "where the micro-batches are written, on a file system that driver and executors "
        "share; default: beside the result"}});
  return all;
}

std::vector<Response> responses() {
  const std::set<std::string> left_out = {"roofline_fraction", "channels_sustained"};
  std::vector<Response> all;
  for (Response& response : stream_responses())
    if (!left_out.contains(response.name)) all.push_back(std::move(response));
  all.push_back({"spark_time", "s",
                 "mean part of processing_time that is not the slowest executor's: scheduling of "
                 "tasks, files, commits"});
  return all;
}

void add_spark_time(const std::vector<StreamMeasurement>& measured, Result& result) {
  std::vector<double> means;
  for (const StreamMeasurement& measurement : measured) {
    const auto spark_s = each<MicroBatch>(measurement.batches, [](const MicroBatch& batch) {
      return batch.processing_s() - batch.longest_share_s;
    });
    means.push_back(sum(spark_s) / static_cast<double>(spark_s.size()));
  }
  result.responses["spark_time"] = sum(means) / static_cast<double>(means.size());
  if (means.size() > 1) result.repeats["spark_time"] = means;
}

Result run(const Request& request) {
  const Inputs& in = request.inputs;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(usable_time_s(request)));
  auto rule = stopping_rule(request, in.integer("batches"));
  rule.quantiles = quantiles_of(request.responses);
  const StreamPlan plan = stream_plan(request);
  check_time(request, rule, plan);
  const SparkConfiguration configuration = spark_configuration(request);
  SparkStream stream(configuration, deadline);
  stream.warm_up(in.number("warmup"));
  const auto measured = measure_repeats(stream, rule, request.repeats, deadline);
  Result result = stream_result(measured, request.repeats, configuration.executors);
  add_spark_time(measured, result);
  result.notes["empty_micro_batch_s"] = stream.empty_s();
  result.notes["phases_s"] = stream.phases_s();
  result.notes["executors"] = configuration.executors;
  result.notes["threads_per_executor"] = configuration.threads;
  result.notes["channels"] = plan.channels;
  result.notes["offered_images_per_s"] = plan.channels * plan.decode_rate;
  return result;
}

}  // namespace

const Workload& spark_stream_inference_workload() {
  static const Workload workload{
      "spark-stream-inference",
      "object detection on many video channels by a Structured Streaming query of Apache Spark",
      "spark-stream-inference --channels 8 --decode_rate 3 --executors_per_gpu 2 --batch_size 4 "
      "--input_size 160",
      inputs(),
      responses(),
      run};
  return workload;
}

}  // namespace doetune::workloads
