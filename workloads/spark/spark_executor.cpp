#include "workloads/spark/spark_executor.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "workloads/shared_inputs.h"
#include "workloads/stream/stream_inputs.h"
#include "workloads/timing/stage_clock.h"
#include "workloads/workloads.h"

namespace doetune::workloads {
namespace {

Mapping weights_of(const Request& request) {
  const FileDescriptor file = shared_weights(request, network_of(request.inputs));
  return Mapping(file.get(), Access::read_only);
}

Json to_json(const CodedFrame& frame, const Detection& box) {
  return {{"channel", frame.channel},
          {"frame", frame.source_frame},
          {"class_index", box.class_index},
          {"confidence", box.confidence},
          {"x", box.x},
          {"y", box.y},
          {"width", box.width},
          {"height", box.height}};
}

}  // namespace

SparkConfiguration spark_configuration(const Request& request) {
  const Inputs& in = request.inputs;
  const int executors = std::max(1, in.integer("gpus")) * in.integer("executors_per_gpu");
  return {request, executors, std::max(1, threads_of(request) / executors)};
}

std::string to_text(const SparkConfiguration& configuration) {
  const Json inputs = configuration.request.inputs.json();
  Json settings = Json::object();
  for (const auto& [name, value] : inputs.items())
    if (!value.is_null()) settings[name] = value;
  const Json json = {
      {"request", {{"settings", settings}, {"seed", configuration.request.seed}}},
      {"executors", configuration.executors},
      {"threads", configuration.threads},
  };
  return json.dump();
}

SparkConfiguration spark_configuration(const std::string& text) {
  const Json json = Json::parse(text);
  return {parse_request(spark_stream_inference_workload(), json.at("request")),
          json.at("executors").get<int>(), json.at("threads").get<int>()};
}

std::vector<StreamFrame> frames_of_share(const SparkConfiguration& configuration, std::int64_t k,
                                         int share) {
  const StreamPlan plan = stream_plan(configuration.request);
  return share_of(plan, frames_of(plan, k), ShareBy::image, share, configuration.executors);
}

void CodedImages::begin(std::vector<CodedFrame> frames) {
  frames_ = std::move(frames);
  next_ = 0;
}

DecodedImage CodedImages::next() {
  StageClock clock;
  const YcbcrView view = decoder_.decode(frames_.at(next_++).packet);
  clock.lap(busy_s_);
  return {view, decoder_.hold()};
}

double CodedImages::take_busy_s() { return std::exchange(busy_s_, 0); }

SparkExecutor::SparkExecutor(const SparkConfiguration& configuration)
    : weights_(weights_of(configuration.request)),
      engine_(make_engine(resolve_device(configuration.request.inputs.text("device")))),
      network_(
          engine_->compile(network_of(configuration.request.inputs), weights_.floats(),
                           compile_options(configuration.request.inputs, configuration.threads))),
      pipeline_(*network_, images_, configuration.request.inputs.integer("batch_size"),
                [this](std::vector<Detection> found) { boxes_.push_back(std::move(found)); }) {
  omp_set_num_threads(configuration.threads);
  for (std::int64_t k = 0; k < 16; ++k)
    for (int share = 0; share < configuration.executors; ++share)
      pipeline_.prepare_for(frames_of_share(configuration, k, share).size());
}

Json SparkExecutor::process(std::span<const std::byte> bytes) {
  const CodedShare share = share_in(bytes);
  boxes_.clear();
  images_.begin(share.frames);
  const ShareReport report = pipeline_.process(share.frames.size());
  Json detections = Json::array();
  for (std::size_t image = 0; image < boxes_.size(); ++image)
    for (const Detection& box : boxes_[image])
      detections.push_back(to_json(share.frames[image], box));
  return {{"micro_batch", share.micro_batch}, {"share", share.share},
          {"images", report.images},          {"decode_s", report.decode_s},
          {"resize_s", report.resize_s},      {"infer_s", report.infer_s},
          {"boxes_s", report.boxes_s},        {"elapsed_s", report.elapsed_s},
          {"detections", detections}};
}

}  // namespace doetune::workloads
