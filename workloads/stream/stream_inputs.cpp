#include "workloads/stream/stream_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runner/measurement/quantile.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/stopping_rule.h"

namespace doetune::workloads {
namespace {

std::vector<std::string> detectors() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types())
    if (std::holds_alternative<DetectionHead>(type.build(type.default_height).head))
      names.emplace_back(type.name);
  return names;
}

VideoCodec codec(const Request& request) {
  const VideoCodec wanted = video_codec_named(request.inputs.text("codec"));
  std::vector<std::string_view> names;
  for (const VideoCodec available : available_codecs()) {
    if (available == wanted) return wanted;
    names.push_back(name_of(available));
  }
  throw Infeasible(fmt::format("this libavcodec cannot encode {} video; it can encode {}",
                               name_of(wanted), fmt::join(names, ", ")));
}

int clip_frames(const Inputs& in) {
  return std::max(
      1, static_cast<int>(std::lround(in.number("clip_seconds") * in.number("source_fps"))));
}

/// The minimum number of cameras for one image per micro-batch.
int min_channels(const Inputs& in) {
  return static_cast<int>(std::ceil(1 / (in.number("decode_rate") * in.number("interval"))));
}

}  // namespace

std::vector<Input> stream_inputs() {
  using enum InputKind;
  return {
      model_input(detectors()),
      {"channels",
       integer,
       8,
       "number of cameras; max: as many as it can keep up with, found before the measurement",
       "",
       1,
       kMaxChannels,
       {},
       1,
       {"max"}},
      {"executors_per_gpu", integer, 1, "executors that share each GPU, or the cores of a CPU", "",
       1, 16},
      categories(
          "sharing", {"process", "mps", "stream", "green"},
          "how executors share a device: processes that take turns, concurrent processes (MPS), "
          "threads with a CUDA stream each, or threads with a part of the multiprocessors each"),
      {"batch_size", integer, 8, "images that an executor runs through the network at a time", "",
       1, 256},
      {"decode_rate", continuous, 5.0, "frames decoded and analysed per second and channel", "Hz",
       0.1, 30},
      {"interval", continuous, 1.0, "length of a micro-batch", "s", 0.05, 60},
      precision_input(),
      device_input(),
      {"input_size",
       integer,
       416,
       "width and height of the network's input",
       "pixels",
       32,
       1216,
       {},
       32},
      threads_input(),
      categories("arrival", {"realtime", "immediate"},
                 "micro-batches are ready when their interval ends, or immediately"),
      {"queue_limit", integer, nullptr,
       "maximum number of waiting micro-batches; beyond it the oldest are dropped; default: no "
       "limit",
       "", 1, 1000000},
      categories("codec", {"mjpeg", "mpeg4", "h264", "vp9", "av1"},
                 "codec of the video; except with mjpeg, every frame must be decoded, also those "
                 "not analysed"),
      {"decoders", integer, 0,
       "threads of each executor that decode ahead; 0: it decodes in its own thread", "", 0, 64},
      categories("decode_on", {"cpu", "gpu"},
                 "what decodes the video: the CPU, or the GPU's hardware decoder (NVDEC)"),
      {"source_fps", continuous, 30.0, "frame rate of a camera, at least decode_rate", "Hz", 0.1,
       120},
      {"frame_width", integer, 1280, "size of the video", "pixels", 64, 7680, {}, 2},
      {"frame_height", integer, 720, "size of the video", "pixels", 64, 4320, {}, 2},
      {"clip_seconds", continuous, 4.0, "length of the video clip that every camera repeats", "s",
       0.1, 600},
      weights_input(),
      {"warmup", continuous, 1.0, "warm-up, in stream time, before the measurement", "s", 0, 3600},
      {"duration", continuous, 5.0, "minimum measurement time", "s", 0, 86400},
      {"batches", integer, 3, "minimum number of measured micro-batches", "", 1, 1000000},
      {"confidence_threshold", continuous, 0.15, "minimum confidence of a box", "", 0, 1},
      {"overlap_threshold", continuous, 0.45,
       "overlap above which the less confident of two boxes is dropped", "", 0, 1},
      roofline_input(),
  };
}

std::vector<Response> stream_responses() {
  return {
      {"throughput", "images/s",
       "images of the measured micro-batches divided by the sum of their processing times"},
      {"processing_time", "s", "mean time from the start of a micro-batch to its last image"},
      {"processing_time_p50", "s", "median of the processing times, from 11 micro-batches on"},
      {"processing_time_p99", "s",
       "99 % quantile of the processing times, from 662 micro-batches on"},
      {"scheduling_delay", "s", "mean time that a micro-batch waits before it starts"},
      {"dropped_share", "1", "fraction of micro-batches dropped because of queue_limit"},
      {"decode_share", "1", "decoding of video, as a fraction of the time of all stages"},
      {"pipeline_overlap", "1", "sum of the times of the stages divided by the elapsed time"},
      {"detections_per_image", "1", "boxes after non-maximum suppression"},
      {"roofline_fraction", "1",
       "throughput divided by that at the devices' peak rates, layer by layer"},
      {"channels_sustained", "1",
       "the largest number of cameras that it kept up with; only with channels = max"},
  };
}

ClipSpec clip_spec(const Request& request) {
  const Inputs& in = request.inputs;
  return {in.integer("frame_width"), in.integer("frame_height"), clip_frames(in), 1,
          codec(request)};
}

StreamPlan stream_plan(const Request& request) {
  const Inputs& in = request.inputs;
  const StreamPlan plan{in.is_word("channels") ? min_channels(in) : in.integer("channels"),
                        in.number("decode_rate"), in.number("interval"), in.number("source_fps"),
                        clip_frames(in)};
  if (plan.decode_rate > plan.source_fps)
    throw UsageError("decode_rate is above source_fps: a camera does not send that many frames");
  if (plan.channels < min_channels(in))
    throw UsageError("channels x decode_rate x interval is below one image per micro-batch");
  return plan;
}

CompileOptions compile_options(const Inputs& inputs, int threads) {
  return {inputs.integer("batch_size"), precision_named(inputs.text("precision")), threads,
          static_cast<float>(inputs.number("confidence_threshold")),
          static_cast<float>(inputs.number("overlap_threshold"))};
}

void check_time(const Request& request, const measurement::StoppingRule& rule,
                const StreamPlan& plan) {
  if (request.inputs.text("arrival") != "realtime" || !rule.adaptive()) return;
  const double limit_s = usable_time_s(request);
  const double max_s = std::min(limit_s, rule.max_s.value_or(limit_s));
  for (const double q : rule.quantiles) {
    const std::size_t needed = measurement::min_count(q);
    if (static_cast<double>(needed) * plan.interval <= max_s) continue;
    throw UsageError(fmt::format(
        "a {:g} % quantile needs {} micro-batches of {:g} s, and the measurement lasts {:g} s: "
        "shorten interval, set arrival to immediate, or raise run.max_time and run.timeout",
        100 * q, needed, plan.interval, max_s));
  }
}

}  // namespace doetune::workloads
