// A stream of micro-batches, and its measurement.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "runner/measurement/measurement.h"
#include "workloads/stream/executor_pool.h"
#include "workloads/stream/stream_plan.h"

namespace doetune::workloads {

/// One micro-batch: its times, in seconds from the start of the stream, and its work.
struct MicroBatch {
  double ready_s = 0;
  double start_s = 0;
  double done_s = 0;
  std::int64_t dropped = 0;    ///< micro-batches just before this one
  ShareReport work;            ///< summed over the executors
  double longest_share_s = 0;  ///< of the executors; 0 where it is not known

  double processing_s() const { return done_s - start_s; }
  double delay_s() const { return start_s - ready_s; }
};

/// One measurement.
struct StreamMeasurement {
  std::vector<MicroBatch> batches;   ///< those after the warm-up
  std::pair<double, double> window;  ///< their time, in seconds of the steady clock
  std::optional<bool> steady;        ///< empty where there are too few to decide
  std::string unsteady;              ///< why it is not steady; empty where it is
  measurement::StoppedBy stopped_by = {};
};

/// What micro-batches are measured of.
class MeasurableStream {
 public:
  virtual ~MeasurableStream() = default;

  /// The next measurement, starting with the next micro-batch. The rule's deadline is relative to
  /// the start of the stream.
  virtual StreamMeasurement measure(const measurement::StoppingRule& rule) = 0;

  /// Seconds from the start of the stream.
  virtual double since_start_s(Clock::time_point time) const = 0;
};

/// A stream that a pool of executors of this program processes.
class Stream : public MeasurableStream {
 public:
  /// The stream starts now. `realtime`: a micro-batch is ready when its interval has passed, else
  /// when the previous one is done. `queue_limit`, at least 1: if, when one is done, more than this
  /// number are ready, the oldest are dropped, so that none waits for longer than queue_limit
  /// intervals.
  Stream(ExecutorPool& pool, const StreamPlan& plan, bool realtime,
         std::optional<int> queue_limit = {});

  /// Runs the micro-batches of this many seconds of stream time without recording.
  void warm_up(double stream_s);
  void warm_up_batches(std::int64_t batches);

  StreamMeasurement measure(const measurement::StoppingRule& rule) override;
  double since_start_s(Clock::time_point time) const override;

 private:
  double next_ready_s() const;
  std::int64_t drop_overdue();
  MicroBatch run_batch();

  ExecutorPool& pool_;
  StreamPlan plan_;
  bool realtime_;
  std::optional<int> queue_limit_;
  Clock::time_point origin_ = Clock::now();
  std::int64_t next_ = 0;  ///< index of the next micro-batch
};

/// Measures the micro-batches that `next` returns, from `start_s` on: seconds from the start of the
/// stream, which is `origin_s` by the steady clock.
StreamMeasurement measure_batches(const std::function<MicroBatch()>& next,
                                  const measurement::StoppingRule& rule, double start_s,
                                  double origin_s);

/// As many measurements as requested and possible within the time: at least one, and no incomplete
/// further ones.
std::vector<StreamMeasurement> measure_repeats(MeasurableStream& stream,
                                               measurement::StoppingRule rule, int repeats,
                                               Clock::time_point deadline);

}  // namespace doetune::workloads
