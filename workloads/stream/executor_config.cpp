#include "workloads/stream/executor_config.h"

#include "workloads/engines/options_json.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

std::string to_text(const ExecutorConfig& c) {
  const Json json = {{"index", c.index},
                     {"executors", c.executors},
                     {"model", c.model},
                     {"input_size", c.input_size},
                     {"device", c.device},
                     {"gpu", c.engine.gpu},
                     {"parts", c.engine.parts},
                     {"part", c.engine.part},
                     {"compile", to_json(c.compile)},
                     {"decoders", c.decoders},
                     {"decode_on_gpu", c.decode_on_gpu},
                     {"cpus", c.cpus},
                     {"channels", c.plan.channels},
                     {"decode_rate", c.plan.decode_rate},
                     {"interval", c.plan.interval},
                     {"source_fps", c.plan.source_fps},
                     {"clip_frames", c.plan.clip_frames},
                     {"weights_fd", c.weights_fd},
                     {"clip_fd", c.clip_fd}};
  return json.dump();
}

ExecutorConfig config_from_text(const std::string& text) {
  const Json json = Json::parse(text);
  ExecutorConfig c;
  c.index = json.at("index");
  c.executors = json.at("executors");
  c.model = json.at("model");
  c.input_size = json.at("input_size");
  c.device = json.at("device");
  c.engine = {json.at("gpu"), json.at("parts"), json.at("part")};
  c.compile = compile_options_from(json.at("compile"));
  c.decoders = json.at("decoders");
  c.decode_on_gpu = json.at("decode_on_gpu");
  c.cpus = json.at("cpus").get<std::vector<int>>();
  c.plan = {json.at("channels"), json.at("decode_rate"), json.at("interval"), json.at("source_fps"),
            json.at("clip_frames")};
  c.weights_fd = json.at("weights_fd");
  c.clip_fd = json.at("clip_fd");
  return c;
}

}  // namespace doetune::workloads
