#include "workloads/stream/executor.h"

#include <algorithm>

namespace doetune::workloads {
namespace {

constexpr int kMostAhead = 64;  // pictures, each of some megabytes

/// Adds the time between its calls to one stage after another.
class StageClock {
 public:
  /// Returns the seconds too.
  double lap(double& stage_s) {
    const auto now = std::chrono::steady_clock::now();
    const double passed_s = std::chrono::duration<double>(now - last_).count();
    stage_s += passed_s;
    last_ = now;
    return passed_s;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Pictures decoded ahead: two batches, and something to do for every decoder.
int pictures_ahead(const ExecutorConfig& config) {
  return std::max(2 * config.decoders, std::min(2 * config.compile.batch, kMostAhead));
}

}  // namespace

ShareReport& ShareReport::operator+=(const ShareReport& other) {
  images += other.images;
  detections += other.detections;
  decode_s += other.decode_s;
  resize_s += other.resize_s;
  infer_s += other.infer_s;
  boxes_s += other.boxes_s;
  elapsed_s += other.elapsed_s;
  return *this;
}

Executor::Executor(const ExecutorConfig& config)
    : config_(config),
      network_(make_network(config.model, config.input_size)),
      weights_(config.weights_fd, Access::read_only),
      clip_(Clip::read(config.clip_fd, false).value()),
      engine_(make_engine(config.device, config.engine)),
      compiled_(engine_->compile(network_, weights_.floats(), config.compile)),
      decoders_(clip_, config.decoders, pictures_ahead(config)) {
  for (std::int64_t k = 0; k < 16; ++k) prepare_for(share(k).size());
}

std::vector<Frame> Executor::share(std::int64_t k) const {
  const ShareBy by = each_frame_by_itself(clip_.codec()) ? ShareBy::image : ShareBy::channel;
  return share_of(config_.plan, frames_of(config_.plan, k), by, config_.index, config_.executors);
}

/// Prepares every size of batch that so many images need, so that no measured one is its first.
void Executor::prepare_for(std::size_t images) {
  const auto batch = static_cast<std::size_t>(config_.compile.batch);
  for (const std::size_t size : {std::min(images, batch), images % batch}) {
    const int count = static_cast<int>(size);
    if (count == 0 || alone_s_.contains(count)) continue;
    compiled_->infer(count);
    StageClock clock;
    if (compiled_->lanes() > 1) compiled_->infer(count);
    clock.lap(alone_s_[count]);
  }
}

ShareReport Executor::process(std::int64_t k, int channels) {
  StageClock clock;
  config_.plan.channels = channels;
  std::vector<Frame> frames = share(k);
  ShareReport report;
  report.micro_batch = k;
  report.images = static_cast<std::int64_t>(frames.size());
  prepare_for(frames.size());
  decoders_.begin(std::move(frames), k != next_);
  next_ = k + 1;
  for (std::int64_t left = report.images; left > 0;) {
    const auto images = static_cast<int>(std::min<std::int64_t>(left, config_.compile.batch));
    fill(images, report);
    submit(images, report);
    if (static_cast<int>(under_way_.size()) == compiled_->lanes()) collect(report);
    left -= images;
  }
  while (!under_way_.empty()) collect(report);
  report.decode_s = decoders_.take_busy_s();
  clock.lap(report.elapsed_s);
  return report;
}

void Executor::fill(int images, ShareReport& report) {
  for (int image = 0; image < images; ++image) {
    const PictureView picture = decoders_.next();
    StageClock clock;
    compiled_->load(image, picture);
    clock.lap(report.resize_s);
  }
}

void Executor::submit(int images, ShareReport& report) {
  StageClock clock;
  compiled_->submit(images);
  under_way_.push_back(images);
  if (compiled_->lanes() == 1) {
    compiled_->wait();
    clock.lap(report.infer_s);
  } else {
    report.infer_s += alone_s_.at(images);
  }
}

void Executor::collect(ShareReport& report) {
  if (compiled_->lanes() > 1) compiled_->wait();
  const int images = under_way_.front();
  under_way_.pop_front();
  StageClock clock;
  for (int image = 0; image < images; ++image)
    report.detections += static_cast<std::int64_t>(compiled_->detections(image).size());
  clock.lap(report.boxes_s);
}

}  // namespace doetune::workloads
