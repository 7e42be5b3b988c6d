// Executors that answer a stream of requests, and the measurement of their answers.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "workloads/language/continuous_batch.h"
#include "workloads/language/covered_time.h"
#include "workloads/language/request_stream.h"
#include "workloads/timing/answered.h"

namespace doetune::workloads {

/// Times and bytes of the steps of all executors.
struct StepTotals {
  double busy_s = 0;        ///< in which at least one step is under way
  double roofline_s = 0;    ///< what the steps take at the peak rates, together
  double decode_s = 0;      ///< in which one without tokens of prompts is
  double decode_bytes = 0;  ///< of weights and cache, in those

  StepTotals& operator+=(const StepTotals& other);
};

/// An answered request, with the steps since the one before it.
struct Generated : Answered {
  int prompt_tokens = 0;
  StepTotals steps = {};
};

using GenerationMeasurement = Measured<Generated>;

/// Threads with a decoder each, from construction to destruction.
class GenerationLoad {
 public:
  using Cost = std::function<StepCost(const StepSize&)>;

  /// A thread for each decoder, on its part of the CPUs.
  GenerationLoad(std::vector<std::unique_ptr<Decoder>> decoders, const BatchLimits& limits,
                 RequestStream& requests, Cost cost, const std::vector<int>& cpus);
  ~GenerationLoad();
  GenerationLoad(const GenerationLoad&) = delete;
  GenerationLoad& operator=(const GenerationLoad&) = delete;

  /// Measures until the rule is met by the latencies of answered requests, in the order of their
  /// ends; requests that end together belong to the same measurement. Ends at the rule's deadline,
  /// too, if a request has been answered or the rule allows for none. Throws what an executor
  /// threw.
  GenerationMeasurement measure(const measurement::StoppingRule& rule);

 private:
  void run(Decoder& decoder);
  void fill(ContinuousBatch& batch, std::deque<GenerationRequest>& waiting);
  void report(const Step& step);
  std::vector<Generated> fetch();

  BatchLimits limits_;
  RequestStream& requests_;
  Cost cost_;
  std::vector<std::unique_ptr<Decoder>> decoders_;

  std::mutex mutex_;  // of the following
  std::vector<Generated> finished_;
  StepTotals steps_;  // since the last request that was finished
  CoveredTime busy_, decoding_;
  double last_end_s_;
  std::exception_ptr error_;

  std::vector<Generated> fetched_;  // and not measured yet, the next one last
  double measured_until_s_;
  std::atomic<bool> stop_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they write to
};

}  // namespace doetune::workloads
