// Passes over a data set by the executors, and their measurement.
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
  double frames_per_second = 30;   ///< playback rate of the images
  bool dynamic = true;             ///< batches are assigned on demand; false: in advance, evenly
  std::vector<int> coded_files{};  ///< of the executors; empty: no video is written
  std::filesystem::path output{};  ///< of the video; empty: an unnamed file

  std::int64_t batches() const { return (images + batch - 1) / batch; }
};

/// One traversal of the data set.
struct Pass {
  double total_s = 0;  ///< from the first batch assigned to the last result written
  BatchReport work;    ///< summed over all batches
  double met_fraction = 0;
};

/// The fraction of frames ready in time for playback that starts with the first result: frame i is
/// due i / frames_per_second after it. `done_s[b]` is when batch b was done.
double fraction_in_time(const std::vector<double>& done_s, const JobPlan& plan);

/// One measurement.
struct JobMeasurement {
  std::vector<Pass> passes;          ///< those after the warm-up
  std::pair<double, double> window;  ///< their time, in seconds of the steady clock
  std::optional<bool> steady = {};   ///< empty where there are too few to decide
  std::string unsteady = {};         ///< why it is not steady; empty where it is
  measurement::StoppedBy stopped_by = {};
};

class StaticJob {
 public:
  /// Returns when all executors are ready.
  StaticJob(WorkerPool& pool, JobPlan plan);

  /// Runs for at least this long without recording.
  void warm_up(double seconds);

  /// Images per second of the first executor while the others are idle.
  double throughput_alone(double min_s);

  /// The next measurement; its values are the times of whole passes.
  JobMeasurement measure(const measurement::StoppingRule& rule);

 private:
  class Dealer;

  Pass pass();
  /// Assigns batches to the first `executors` executors until none is left or the time has passed.
  Pass work(Dealer& dealer, std::size_t executors, std::optional<Clock::time_point> until,
            ResultVideo* video);
  bool give(Dealer& dealer, std::size_t executor);
  /// Moves the coded frames of a batch out of the executor's file.
  std::vector<std::byte> take_coded(std::size_t executor, const BatchReport& report) const;

  WorkerPool& pool_;
  JobPlan plan_;
  std::vector<std::int64_t> batches_ahead_;  ///< of each executor
};

/// As many measurements as requested and possible within the time: at least one, and no incomplete
/// further ones.
std::vector<JobMeasurement> measure_repeats(StaticJob& job, measurement::StoppingRule rule,
                                            int repeats, Clock::time_point deadline);

}  // namespace doetune::workloads
