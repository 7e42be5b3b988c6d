#include "workloads/stream/pipeline.h"

#include <algorithm>
#include <utility>

#include "workloads/timing/stage_clock.h"

namespace doetune::workloads {

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

Pipeline::Pipeline(CompiledNetwork& network, DecodedImages& decoded, int batch, Boxes boxes)
    : network_(network), decoded_(decoded), batch_(batch), boxes_(std::move(boxes)) {}

void Pipeline::prepare_for(std::size_t images) {
  const auto batch = static_cast<std::size_t>(batch_);
  for (const std::size_t size : {std::min(images, batch), images % batch}) {
    const int count = static_cast<int>(size);
    if (count == 0 || alone_s_.contains(count)) continue;
    network_.infer(count);
    StageClock clock;
    if (network_.lanes() > 1) network_.infer(count);
    clock.lap(alone_s_[count]);
  }
}

ShareReport Pipeline::process(std::size_t share) {
  StageClock clock;
  report_ = {};
  report_.images = static_cast<std::int64_t>(share);
  prepare_for(share);
  for (std::int64_t left = report_.images; left > 0;) {
    const auto images = static_cast<int>(std::min<std::int64_t>(left, batch_));
    fill(images);
    if (static_cast<int>(under_way_.size()) == network_.lanes()) collect();
    submit(images);
    if (network_.lanes() == 1) collect();
    left -= images;
  }
  while (!under_way_.empty()) collect();
  report_.decode_s = decoded_.take_busy_s();
  clock.lap(report_.elapsed_s);
  return report_;
}

void Pipeline::fill(int images) {
  for (int image = 0; image < images; ++image) {
    const DecodedImage source = decoded_.next();
    StageClock clock;
    network_.load(image, source);
    clock.lap(report_.resize_s);
  }
}

void Pipeline::submit(int images) {
  StageClock clock;
  network_.submit(images);
  under_way_.push_back(images);
  if (network_.lanes() == 1) {
    clock.lap(report_.infer_s);
  } else {
    clock.lap(report_.resize_s);  // what is left of copying the images
    report_.infer_s += alone_s_.at(images);
  }
}

void Pipeline::collect() {
  network_.wait();
  const int images = under_way_.front();
  under_way_.pop_front();
  StageClock clock;
  for (int image = 0; image < images; ++image) {
    std::vector<Detection> found = network_.detections(image);
    report_.detections += static_cast<std::int64_t>(found.size());
    if (boxes_) boxes_(std::move(found));
  }
  clock.lap(report_.boxes_s);
}

}  // namespace doetune::workloads
