// The load that is put on a server, and its measurement.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "workloads/serving/generator.h"
#include "workloads/serving/outcome.h"
#include "workloads/timing/answered.h"

namespace doetune::workloads {

using LoadMeasurement = Measured<Answered>;

/// The threads that send requests, from construction to destruction.
class Load : private Outcomes {
 public:
  explicit Load(LoadPlan plan);
  ~Load() override;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Measures until the rule is met by the latencies of answered requests, in the order of their
  /// ends. Throws std::runtime_error with the reason if nothing is answered for longer than a
  /// request may take, or for plan.patience_s while requests fail.
  LoadMeasurement measure(const measurement::StoppingRule& rule);

  /// Failed requests since the beginning.
  FaultCounts faults() const;

 private:
  void add(const Outcome& outcome, std::string example) override;
  void fetch_outcomes();
  void check_progress(double now_s) const;
  Answered answered(const Outcome& outcome);

  LoadPlan plan_;
  mutable std::mutex mutex_;
  std::vector<Outcome> arrived_;  ///< of all threads; with what follows, under the mutex
  FaultCounts faults_;
  std::exception_ptr error_;

  std::vector<Outcome> outcomes_;  ///< fetched, by their ends
  std::size_t used_ = 0;           ///< of them
  double last_end_s_ = 0;          ///< of an answered request
  double last_answer_s_ = 0;       ///< when one was noticed
  int failed_ = 0;                 ///< since then
  int refused_ = 0;

  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;  ///< last: they end before what they write to
};

}  // namespace doetune::workloads
