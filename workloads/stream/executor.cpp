#include "workloads/stream/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace doetune::workloads {
namespace {

/// Size of the ring: two batches, and one image for each decoder.
int images_ahead(const ExecutorConfig& config) {
  constexpr int kMax = 64;  // images of some megabytes each
  return std::max(2 * config.decoders, std::min(2 * config.compile.batch, kMax));
}

std::optional<int> decoding_gpu(const ExecutorConfig& config) {
  return config.decode_on_gpu ? std::optional(config.engine.gpu) : std::nullopt;
}

}  // namespace

Executor::Executor(const ExecutorConfig& config)
    : config_(config),
      weights_(config.weights_fd, Access::read_only),
      clip_(Clip::read(config.clip_fd, false).value()),
      engine_(make_engine(config.device, config.engine)),
      network_(engine_->compile(make_network(config.model, config.input_size), weights_.floats(),
                                config.compile)),
      decoders_(clip_, config.decoders, images_ahead(config), decoding_gpu(config)),
      pipeline_(*network_, decoders_, config.compile.batch) {
  for (std::int64_t k = 0; k < 16; ++k) pipeline_.prepare_for(share(k).size());
}

std::vector<StreamFrame> Executor::share(std::int64_t k) const {
  const ShareBy by = each_frame_by_itself(clip_.codec()) ? ShareBy::image : ShareBy::channel;
  return share_of(config_.plan, frames_of(config_.plan, k), by, config_.index, config_.executors);
}

ShareReport Executor::process(std::int64_t k, int channels) {
  config_.plan.channels = channels;
  std::vector<StreamFrame> frames = share(k);
  const std::size_t images = frames.size();
  pipeline_.prepare_for(images);  // while no decoder takes its time
  decoders_.begin(std::move(frames), k != next_);
  ShareReport report = pipeline_.process(images);
  report.micro_batch = k;
  next_ = k + 1;
  return report;
}

}  // namespace doetune::workloads
