#include "workloads/stream/stream_inputs.h"

#include "workloads/shared_inputs.h"
#include "workloads/timing/roofline.h"

namespace doetune::workloads {
namespace {

std::vector<std::string> detectors() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types())
    if (std::holds_alternative<DetectionHead>(type.build(type.default_height).head))
      names.emplace_back(type.name);
  return names;
}

}  // namespace

std::vector<Input> stream_inputs() {
  using enum InputKind;
  return {
      model_input(detectors()),
      {"channels",
       integer,
       8,
       "cameras; max: as many as it keeps up with, which it finds first",
       "",
       1,
       kMaxChannels,
       {},
       1,
       {"max"}},
      {"executors_per_gpu", integer, 1, "executors that share each GPU; on a CPU, the cores", "", 1,
       16},
      categories("sharing", {"process", "mps", "stream", "green"},
                 "how executors share a device: processes that take turns, processes side by side "
                 "(MPS), threads with a CUDA stream each, or with a part of the multiprocessors "
                 "each"),
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
                 "micro-batches are ready when their interval ends, or at once"),
      {"queue_limit", integer, nullptr,
       "micro-batches that may be ready and wait, beyond which the oldest are dropped; default: "
       "all wait",
       "", 1, 1000000},
      categories("codec", {"mjpeg", "mpeg4", "h264", "vp9", "av1"},
                 "of the video; but for mjpeg every frame is decoded, those not analysed too"),
      {"decoders", integer, 0,
       "threads of each executor that decode ahead; 0: it decodes by itself", "", 0, 64},
      categories("decode_on", {"cpu", "gpu"},
                 "what decodes the video: the CPU, or the GPU's own decoder (NVDEC)"),
      {"source_fps", continuous, 30.0, "frames that a camera sends, at least decode_rate", "Hz",
       0.1, 120},
      {"frame_width", integer, 1280, "of the video", "pixels", 64, 7680, {}, 2},
      {"frame_height", integer, 720, "of the video", "pixels", 64, 4320, {}, 2},
      {"clip_seconds", continuous, 4.0, "length of the video that every camera repeats", "s", 0.1,
       600},
      weights_input(),
      {"warmup", continuous, 1.0, "stream time before the measurement", "s", 0, 3600},
      {"duration", continuous, 5.0, "least time to measure", "s", 0, 86400},
      {"batches", integer, 3, "least number of micro-batches to measure", "", 1, 1000000},
      {"confidence_threshold", continuous, 0.15, "least confidence of a box", "", 0, 1},
      {"overlap_threshold", continuous, 0.45,
       "overlap above which the lesser of two boxes is dropped", "", 0, 1},
      roofline_input(),
  };
}

std::vector<Response> stream_responses() {
  return {
      {"throughput", "images/s",
       "images of the measured micro-batches over the sum of their processing times"},
      {"processing_time", "s", "mean time from the start of a micro-batch to its last image"},
      {"processing_time_p50", "s", "median of the processing times, from 11 micro-batches on"},
      {"processing_time_p99", "s",
       "99 % quantile of the processing times, from 662 micro-batches on"},
      {"scheduling_delay", "s", "mean time that a micro-batch waits before it starts"},
      {"dropped_share", "1", "part of the micro-batches that queue_limit dropped"},
      {"decode_share", "1", "part of the stages' time that is decoding of video"},
      {"pipeline_overlap", "1",
       "time that the stages take one after another over the time that they took"},
      {"detections_per_image", "1", "boxes after non-maximum suppression"},
      {"roofline_fraction", "1", "throughput over that of the devices' ceilings, layer by layer"},
      {"channels_sustained", "1", "the most cameras that it kept up with, where channels is max"},
  };
}

}  // namespace doetune::workloads
