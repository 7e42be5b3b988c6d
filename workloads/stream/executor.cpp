#include "workloads/stream/executor.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdio>
#include <set>

#include "workloads/networks/detection.h"
#include "workloads/protocol/protocol.h"
#include "workloads/video/clip.h"
#include "workloads/video/picture.h"
#include "workloads/video/video.h"

namespace doetune::workloads {
namespace {

/// Adds the time between its calls to one stage after another.
class StageClock {
 public:
  void lap(double& stage_s) {
    const auto now = std::chrono::steady_clock::now();
    stage_s += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Executor {
 public:
  explicit Executor(const ExecutorConfig& config)
      : config_(config),
        network_(make_network(config.model, config.input_size)),
        weights_(config.weights_fd, Access::read_only),
        clip_(Clip::read(config.clip_fd, false).value()),
        engine_(make_engine(config.device)),
        compiled_(engine_->compile(network_, weights_.floats(), config.compile)) {
    warm_up();
  }

  ShareReport process(std::int64_t micro_batch) {
    const auto frames = frames_of(config_.plan, micro_batch);
    auto share = share_of(frames, config_.index, config_.executors);
    ShareReport report;
    report.micro_batch = micro_batch;
    report.images = static_cast<std::int64_t>(share.size());
    while (!share.empty()) {
      const std::size_t count = std::min<std::size_t>(share.size(), config_.compile.batch);
      process_batch(share.first(count), report);
      share = share.subspan(count);
    }
    return report;
  }

 private:
  /// Prepares every batch size that the coming micro-batches need, so that none is prepared later.
  void warm_up() {
    std::set<int> sizes;
    for (std::int64_t k = 0; k < 16; ++k) {
      const auto frames = frames_of(config_.plan, k);
      const auto images =
          static_cast<int>(share_of(frames, config_.index, config_.executors).size());
      if (images >= config_.compile.batch) sizes.insert(config_.compile.batch);
      if (images % config_.compile.batch > 0) sizes.insert(images % config_.compile.batch);
    }
    for (const int size : sizes) compiled_->infer(size);
  }

  void process_batch(std::span<const Frame> frames, ShareReport& report) {
    StageClock clock;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const PictureView picture = decoder_.decode(clip_.packet(frames[i].clip_frame));
      clock.lap(report.decode_s);
      compiled_->load(static_cast<int>(i), picture);
      clock.lap(report.resize_s);
    }
    compiled_->infer(static_cast<int>(frames.size()));
    clock.lap(report.infer_s);
    for (std::size_t i = 0; i < frames.size(); ++i)
      report.detections +=
          static_cast<std::int64_t>(compiled_->detections(static_cast<int>(i)).size());
    clock.lap(report.boxes_s);
  }

  ExecutorConfig config_;
  Network network_;
  Mapping weights_;
  Clip clip_;
  FrameDecoder decoder_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<CompiledNetwork> compiled_;
};

/// The next packet; empty when the coordinator has hung up.
std::string receive(int socket) {
  std::string message(kLongestMessage, '\0');
  const ssize_t bytes = recv(socket, message.data(), message.size(), 0);
  message.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return message;
}

template <class T>
void send_value(int socket, const T& value) {
  send(socket, &value, sizeof value,
       MSG_NOSIGNAL);  // if it fails, the next receive ends the executor
}

void serve(Executor& executor, int socket) {
  send_value(socket, kReady);
  std::int64_t micro_batch = 0;
  while (recv(socket, &micro_batch, sizeof micro_batch, 0) == sizeof micro_batch)
    send_value(socket, executor.process(micro_batch));
}

}  // namespace

ShareReport& ShareReport::operator+=(const ShareReport& other) {
  images += other.images;
  detections += other.detections;
  decode_s += other.decode_s;
  resize_s += other.resize_s;
  infer_s += other.infer_s;
  boxes_s += other.boxes_s;
  return *this;
}

std::string to_text(const ExecutorConfig& c) {
  const Json json = {{"index", c.index},
                     {"executors", c.executors},
                     {"model", c.model},
                     {"input_size", c.input_size},
                     {"device", c.device},
                     {"batch", c.compile.batch},
                     {"precision", name_of(c.compile.precision)},
                     {"threads", c.compile.threads},
                     {"channels", c.plan.channels},
                     {"decode_rate", c.plan.decode_rate},
                     {"interval", c.plan.interval},
                     {"source_fps", c.plan.source_fps},
                     {"clip_frames", c.plan.clip_frames},
                     {"weights_fd", c.weights_fd},
                     {"clip_fd", c.clip_fd},
                     {"confidence_threshold", c.compile.confidence_threshold},
                     {"overlap_threshold", c.compile.overlap_threshold}};
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
  c.compile = {json.at("batch"), precision_named(json.at("precision").get<std::string>()),
               json.at("threads"), json.at("confidence_threshold"), json.at("overlap_threshold")};
  c.plan = {json.at("channels"), json.at("decode_rate"), json.at("interval"), json.at("source_fps"),
            json.at("clip_frames")};
  c.weights_fd = json.at("weights_fd");
  c.clip_fd = json.at("clip_fd");
  return c;
}

int run_executor(int socket) {
  std::string who = "executor";
  const auto failed = [&](const char* message, int code) {
    fmt::print(stderr, "{}: {}\n", who, message);
    return code;
  };
  try {
    const std::string text = receive(socket);
    if (text.empty()) return 0;
    const ExecutorConfig config = config_from_text(text);
    who = fmt::format("executor {}", config.index);
    Executor executor(config);
    serve(executor, socket);
    return 0;
  } catch (const CannotRun& error) {
    return failed(error.what(), kExitInfeasible);
  } catch (const std::bad_alloc&) {
    return failed("not enough memory", kExitInfeasible);
  } catch (const std::exception& error) {
    return failed(error.what(), kExitFailed);
  }
}

}  // namespace doetune::workloads
