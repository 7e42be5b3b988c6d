// The workload `static-inference`: throughput on a data set that is complete when the run starts (a
// directory of images, a video file, or generated images), with any network and executors on all
// devices.
//
// Executors are processes with one network each. An executor gets batch_size images at a time,
// reads, decodes and resizes them on one thread and runs the network on them; with `schedule:
// dynamic` it gets its next batch when it is done with one. A network with several images per
// input, tracknet, gets each image stacked on the preceding ones; the executor draws the spot of
// the heat map into the image and codes it, and the frames are written in order into one video.
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "workloads/engines/engine.h"
#include "workloads/processes/cpus.h"
#include "workloads/processes/worker_pool.h"
#include "workloads/shared_inputs.h"
#include "workloads/static/static_executor.h"
#include "workloads/static/static_job.h"
#include "workloads/static/static_result.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/stopping_rule.h"
#include "workloads/video/video_writer.h"

namespace doetune::workloads {
namespace {

std::vector<Input> static_inference_inputs() {
  using enum InputKind;
  return {
      model_input(model_names()),
      {"source", text, "generated",
       "'generated', a directory of images (searched recursively), or a video file"},
      {"images", integer, nullptr,
       "images to generate (default 256), or the maximum number to take from the source", "", 1,
       100000000},
      {"executors_per_gpu", integer, 1, "executors on each device; on a CPU they share the cores",
       "", 1, 16},
      {"batch_size", integer, 8, "images that an executor is given and processes at a time", "", 1,
       256},
      categories("schedule", {"dynamic", "static"},
                 "dynamic: an executor gets its next batch when it is done; static: each has a "
                 "fixed part"),
      precision_input(),
      device_input(),
      {"input_size", integer, nullptr,
       "height of the network's input; default: that of the network", "pixels", 32, 1216},
      threads_input(),
      {"source_fps", continuous, 30.0, "images per second if the source is not a video file", "Hz",
       0.1, 1000},
      {"frame_width", integer, 1280, "size of generated images", "pixels", 64, 7680, {}, 2},
      {"frame_height", integer, 720, "size of generated images", "pixels", 64, 4320, {}, 2},
      categories("skip_broken", {"false", "true"},
                 "skip and count corrupt images instead of failing"),
      {"output", text, nullptr,
       "the video that tracknet writes (.avi .mkv .mov .mp4); default: one that is not kept"},
      weights_input(),
      {"warmup", continuous, 0.5, "warm-up time before the measurement", "s", 0, 3600},
      {"baseline", continuous, 1.0,
       "minimum time to measure one executor alone, for speed_up; 0: not measured", "s", 0, 3600},
      {"duration", continuous, 0.0, "minimum measurement time, rounded up to whole passes", "s", 0,
       86400},
      {"passes", integer, 1, "minimum number of passes over the data set", "", 1, 1000000},
      {"confidence_threshold", continuous, 0.15, "minimum confidence of a box", "", 0, 1},
      {"overlap_threshold", continuous, 0.45,
       "overlap above which the less confident of two boxes is dropped", "", 0, 1},
      roofline_input(),
  };
}

ImageSetRequest image_set_request(const Inputs& in) {
  ImageSetRequest request{in.text("source"), std::nullopt, in.integer("frame_width"),
                          in.integer("frame_height"), in.number("source_fps")};
  if (in.has("images")) request.images = in.integer("images");
  return request;
}

void check_output(const Inputs& in, const Network& network) {
  if (!in.has("output")) return;
  if (!std::holds_alternative<HeatMapHead>(network.head))
    throw UsageError(
        fmt::format("output: a video is written only for networks with a heat map, such as "
                    "tracknet, not for {}",
                    network.name));
  if (container_of(in.text("output")).empty())
    throw UsageError(
        fmt::format("output = {} must end in .avi, .mkv, .mov or .mp4", in.text("output")));
  std::error_code none;  // the output need not exist yet
  if (std::filesystem::equivalent(in.text("output"), in.text("source"), none))
    throw UsageError(fmt::format("output = {} is the source itself", in.text("output")));
}

/// The part of the configuration common to all executors: all but index and GPU.
StaticExecutorConfig executor_config(const Inputs& in, const Network& network, const ImageSet& data,
                                     int threads) {
  StaticExecutorConfig config;
  config.model = network.name;
  config.input_size = network.input.height;
  config.device = resolve_device(in.text("device"));
  config.compile = {in.integer("batch_size"), precision_named(in.text("precision")), threads,
                    static_cast<float>(in.number("confidence_threshold")),
                    static_cast<float>(in.number("overlap_threshold"))};
  config.data = data;
  config.skip_broken = in.text("skip_broken") == "true";
  return config;
}

/// A file per executor for the frames that it codes, if the network draws any.
std::vector<FileDescriptor> coded_files(const Network& network, int executors) {
  std::vector<FileDescriptor> files;
  if (std::holds_alternative<HeatMapHead>(network.head))
    for (int e = 0; e < executors; ++e) files.push_back(make_memory_file("doetune-frames", 0));
  return files;
}

std::vector<WorkerStart> worker_starts(StaticExecutorConfig config, int executors, int devices,
                                       const std::vector<int>& cpus,
                                       const std::vector<FileDescriptor>& coded) {
  std::vector<WorkerStart> starts;
  for (int e = 0; e < executors; ++e) {
    config.index = e;
    config.gpu = e % devices;
    std::vector<int> files{config.weights_file};
    if (config.data.file >= 0) files.push_back(config.data.file);
    if (!coded.empty()) files.push_back(config.coded_file = coded[e].get());
    starts.push_back(
        {to_text(config), std::move(files), cpus_of(cpus, e, executors), config.compile.threads});
  }
  return starts;
}

JobPlan job_plan(const Inputs& in, const ImageSet& data, const std::vector<FileDescriptor>& coded) {
  JobPlan plan{data.images, in.integer("batch_size"), data.frames_per_second,
               in.text("schedule") == "dynamic"};
  for (const FileDescriptor& file : coded) plan.coded_files.push_back(file.get());
  if (in.has("output")) plan.output = in.text("output");
  return plan;
}

Result run_static_inference(const Request& request) {
  const Inputs& in = request.inputs;
  const Clock::time_point start = Clock::now();
  const double limit_s = usable_time_s(request);
  const auto deadline =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  const Network network = network_of(in);
  check_output(in, network);
  const int devices = device_count(in.text("device"));
  const std::string engine = make_engine(in.text("device"))->description();
  const int executors = devices * in.integer("executors_per_gpu");
  const auto cpus = assigned_cpus(request.cpus);
  const OpenImageSet open = open_image_set(image_set_request(in));
  const FileDescriptor weights = shared_weights(request, network);
  const auto coded = coded_files(network, executors);
  StaticExecutorConfig config =
      executor_config(in, network, open.data, std::max(1, threads_of(request) / executors));
  config.weights_file = weights.get();
  const auto peak_rates = peak_rates_for(request, config.compile.precision);
  WorkerPool pool(worker_starts(config, executors, devices, cpus, coded));
  ResultContext context{network.head, job_plan(in, open.data, coded), pool.size(), std::nullopt,
                        request.repeats};
  StaticJob job(pool, context.plan);
  job.warm_up(in.number("warmup"));
  if (executors > 1 && in.number("baseline") > 0)
    context.throughput_alone = job.throughput_alone(in.number("baseline"));
  Result result = static_result(
      measure_repeats(job, stopping_rule(request, in.integer("passes")), request.repeats, deadline),
      context);
  add_roofline_fraction(peak_rates, network, config.compile.batch, config.compile.precision,
                        devices, result);
  result.notes.update(open.notes);
  result.notes["engine"] = engine;
  result.notes["threads_per_executor"] = config.compile.threads;
  return result;
}

}  // namespace

const Workload& static_inference_workload() {
  static const Workload workload{
      "static-inference",
      "inference on a directory of images, a video file or generated images, by executors on all "
      "devices",
      "static-inference --model tiny-yolov2 --source photos/ --executors_per_gpu 2 --batch_size 8",
      static_inference_inputs(),
      static_responses(),
      run_static_inference};
  return workload;
}

}  // namespace doetune::workloads
