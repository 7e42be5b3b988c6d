// Passes over a data set by executors, and the measurements of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "runner/measurement/measurement.h"
#include "workloads/processes/worker_pool.h"
#include "workloads/static/static_report.h"

namespace doetune::workloads {

class ResultVideo;

struct JobPlan {
  std::int64_t images = 1;
  int batch = 1;
  double frames_per_second = 30;  ///< at which the images are shown
  bool dynamic = true;            ///< an executor gets its next batch when it is done with one;
                                  ///< false: each has a share of its own, sizes differ by one batch
  std::vector<int> coded_files{};  ///< of the executors; empty: no video is written
  std::filesystem::path output{};  ///< of the video; empty: a file without a name

  std::int64_t batches() const { return (images + batch - 1) / batch; }
};

/// Work on one data set from beginning to end.
struct Pass {
  double total_s = 0;  ///< from the first batch given out to the last result, written
  BatchReport work;    ///< of all batches together
  double met_share = 0;
};

/// Part of the frames that are there in time for one who begins to watch with the first result:
/// frame i is due i / frames_per_second after it. `done_s[b]` is when batch b was done.
double share_in_time(const std::vector<double>& done_s, const JobPlan& plan);

/// One measurement.
struct JobMeasurement {
  std::vector<Pass> passes;          ///< those that count
  std::pair<double, double> window;  ///< their time, in seconds of the steady clock
  std::optional<bool> steady = {};   ///< empty where they are too few to tell
  std::string unsteady = {};         ///< what they are instead; empty where steady
  measurement::StoppedBy stopped_by = {};
};

class StaticJob {
 public:
  /// Returns when all executors are ready.
  StaticJob(WorkerPool& pool, JobPlan plan);

  /// Works for at least so long, and records nothing.
  void warm_up(double seconds);

  /// Images per second of the first executor while the others have nothing to do.
  double throughput_alone(double at_least_s);

  /// The next measurement, whose values are the times of whole passes.
  JobMeasurement measure(const measurement::StoppingRule& rule);

 private:
  class Dealer;

  Pass pass();
  /// Gives out batches to the first `executors` until there is none left, or the time is past.
  Pass work(Dealer& dealer, std::size_t executors, std::optional<Clock::time_point> until,
            ResultVideo* video);
  bool give(Dealer& dealer, std::size_t executor);
  /// The coded frames of a batch, which leave the executor's file.
  std::vector<std::byte> take_coded(std::size_t executor, const BatchReport& report) const;

  WorkerPool& pool_;
  JobPlan plan_;
  std::vector<std::int64_t> batches_ahead_;  ///< of each executor
};

/// As many measurements as are asked for and fit into the time: at least one, and of further ones
/// only those that are whole.
std::vector<JobMeasurement> measure_repeats(StaticJob& job, measurement::StoppingRule rule,
                                            int repeats, Clock::time_point deadline);

}  // namespace doetune::workloads
