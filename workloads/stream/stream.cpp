#include "workloads/stream/stream.h"
#include "base/clock.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

Stream::Stream(ExecutorPool& pool, const StreamPlan& plan, bool realtime,
               std::optional<int> queue_limit)
    : pool_(pool), plan_(plan), realtime_(realtime), queue_limit_(queue_limit) {}

void Stream::warm_up(double stream_s) {
  warm_up_batches(static_cast<std::int64_t>(std::ceil(stream_s / plan_.interval)));
}

void Stream::warm_up_batches(std::int64_t batches) {
  while (next_ < batches) run_batch();
}

StreamMeasurement Stream::measure(const measurement::StoppingRule& rule) {
  const double start_s = since_start_s(Clock::now());
  const bool in_time = realtime_ && next_ready_s() > start_s;  // whole intervals
  const double origin_s = std::chrono::duration<double>(origin_.time_since_epoch()).count();
  StreamMeasurement measured =
      measure_batches([&] { return run_batch(); }, rule,
                      in_time ? next_ready_s() - plan_.interval : start_s, origin_s);
  measured.window.first = std::max(measured.window.first, origin_s + start_s);
  return measured;
}

StreamMeasurement measure_batches(const std::function<MicroBatch()>& next,
                                  const measurement::StoppingRule& rule, double start_s,
                                  double origin_s) {
  measurement::Measurement times(rule, start_s);
  StreamMeasurement measured;
  while (!times.stopped_by()) {
    measured.batches.push_back(next());
    times.add(measured.batches.back().processing_s(), measured.batches.back().done_s);
  }
  measured.window = {origin_s + times.begin_s(), origin_s + times.end_s()};
  measured.steady = times.steady();
  if (measured.steady == false)
    measured.unsteady = measurement::unsteady_sentence("processing_time", *times.steadiness(),
                                                       measured.batches.size());
  measured.stopped_by = *times.stopped_by();
  measured.batches.erase(measured.batches.begin(),
                         measured.batches.begin() + static_cast<std::ptrdiff_t>(times.begin()));
  return measured;
}

double Stream::since_start_s(Clock::time_point time) const {
  return std::chrono::duration<double>(time - origin_).count();
}

double Stream::next_ready_s() const {
  return realtime_ ? static_cast<double>(next_ + 1) * plan_.interval : since_start_s(Clock::now());
}

std::int64_t Stream::drop_overdue() {
  if (!realtime_ || !queue_limit_) return 0;
  const auto ready =
      static_cast<std::int64_t>(since_start_s(Clock::now()) / plan_.interval);  // so far
  const std::int64_t dropped = std::max<std::int64_t>(0, ready - next_ - *queue_limit_);
  next_ += dropped;
  return dropped;
}

MicroBatch Stream::run_batch() {
  MicroBatch batch;
  batch.dropped = drop_overdue();
  batch.ready_s = next_ready_s();
  pool_.wait_until(origin_ + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(batch.ready_s)));
  batch.start_s = std::max(batch.ready_s, since_start_s(Clock::now()));
  batch.work = pool_.run({next_++, plan_.channels});
  batch.done_s = since_start_s(Clock::now());
  return batch;
}

std::vector<StreamMeasurement> measure_repeats(MeasurableStream& stream,
                                               measurement::StoppingRule rule, int repeats,
                                               Clock::time_point deadline) {
  const auto now_s = [&] { return stream.since_start_s(Clock::now()); };
  rule.deadline_s = stream.since_start_s(deadline);
  double began_s = now_s();
  std::vector<StreamMeasurement> all{stream.measure(rule)};
  while (static_cast<int>(all.size()) < repeats) {
    const double took_s = now_s() - std::exchange(began_s, now_s());
    if (now_s() + took_s > *rule.deadline_s) break;
    StreamMeasurement next = stream.measure(rule);
    if (next.stopped_by == measurement::StoppedBy::kTimeLimit) break;
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace doetune::workloads
