#include "workloads/stream/decoders.h"
#include "base/clock.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace doetune::workloads {
namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

YcbcrView CameraDecoder::decode(const StreamFrame& frame) {
  const bool by_itself = each_frame_by_itself(clip_.codec());
  const int key = by_itself ? 0 : frame.channel;
  const auto found = cameras_.find(key);
  Camera& camera =
      found != cameras_.end()
          ? found->second
          : cameras_.emplace(key, Camera{FrameDecoder(clip_.codec(), gpu_)}).first->second;
  last_ = &camera.decoder;
  return by_itself ? camera.decoder.decode(clip_.packet(frame.clip_frame))
                   : decode_in_order(frame, camera);
}

YcbcrView CameraDecoder::decode_in_order(const StreamFrame& frame, Camera& camera) {
  if (camera.next < 0)
    camera.next = frame.source_frame - (frame.clip_frame - clip_.key_frame(frame.clip_frame));
  for (; camera.next <= frame.source_frame; ++camera.next)
    camera.image =
        camera.decoder.decode(clip_.packet(static_cast<int>(camera.next % clip_.frames())));
  return camera.image;
}

void CameraDecoder::skip() {
  for (auto& [channel, camera] : cameras_) camera.next = -1;
}

Decoders::Decoders(const Clip& clip, int threads, int ahead, std::optional<int> gpu)
    : clip_(clip),
      gpu_(gpu),
      thread_count_(threads),
      own_(clip, gpu),
      ring_(static_cast<std::size_t>(ahead)) {
  for (int thread = 0; thread < threads; ++thread)
    threads_.emplace_back([this, thread] { work(thread); });
}

Decoders::~Decoders() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_to_do_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Decoders::begin(std::vector<StreamFrame> share, bool skipped) {
  if (threads_.empty() && skipped) own_.skip();
  {
    const std::lock_guard lock(mutex_);
    share_ = std::move(share);
    ++share_number_;
    skips_ += skipped ? 1 : 0;
    taken_ = 0;
  }
  work_to_do_.notify_all();
}

DecodedImage Decoders::next() {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) {
    const auto start = Clock::now();
    const YcbcrView view = own_.decode(share_[taken_++]);
    busy_s_ += seconds_since(start);
    return {view, own_.hold()};
  }
  Slot& slot = ring_[taken_ % ring_.size()];
  image_ready_.wait(lock, [&] { return slot.ready || error_; });
  if (error_) std::rethrow_exception(error_);
  current_ = std::exchange(slot, {});
  ++taken_;
  lock.unlock();
  work_to_do_.notify_all();
  return current_.image;
}

double Decoders::take_busy_s() {
  const std::lock_guard lock(mutex_);
  return std::exchange(busy_s_, 0);
}

bool Decoders::belongs_to(const StreamFrame& frame, std::size_t item, int thread) const {
  const std::size_t turn =
      each_frame_by_itself(clip_.codec()) ? item : static_cast<std::size_t>(frame.channel);
  return turn % static_cast<std::size_t>(thread_count_) == static_cast<std::size_t>(thread);
}

void Decoders::work(int thread) {
  CameraDecoder decoder(clip_, gpu_);
  std::int64_t share_number = 0;
  std::int64_t skips = 0;
  std::size_t item = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (share_number != share_number_) {
      share_number = share_number_;
      item = 0;
      if (std::exchange(skips, skips_) != skips_) decoder.skip();
    }
    while (item < share_.size() && !belongs_to(share_[item], item, thread)) ++item;
    if (stop_) return;
    if (item < share_.size() && item < taken_ + ring_.size())
      decode_into_ring(decoder, item++, lock);
    else
      work_to_do_.wait(lock);
  }
}

void Decoders::decode_into_ring(CameraDecoder& decoder, std::size_t item,
                                std::unique_lock<std::mutex>& lock) {
  const StreamFrame frame = share_[item];
  lock.unlock();
  Slot slot;
  std::exception_ptr error;
  const auto start = Clock::now();
  try {
    const YcbcrView view = decoder.decode(frame);
    slot = {{view, decoder.hold()}, true};
  } catch (...) {
    error = std::current_exception();
  }
  const double busy_s = seconds_since(start);
  lock.lock();
  busy_s_ += busy_s;
  if (error)
    error_ = error;
  else
    ring_[item % ring_.size()] = std::move(slot);
  image_ready_.notify_one();
}

}  // namespace doetune::workloads
