// One thread's part of the load.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "workloads/arrivals.h"
#include "workloads/serving/answer.h"
#include "workloads/serving/http_client.h"
#include "workloads/serving/outcome.h"
#include "workloads/serving/requests.h"

namespace doetune::workloads {

/// What is sent where, and when.
struct LoadPlan {
  const Api* api = nullptr;
  Target target;
  const Requests* requests = nullptr;
  int concurrency = 1;              ///< closed loop: requests always under way
  std::optional<double> rate = {};  ///< open loop instead: requests per second
  int max_in_flight = 1024;         ///< open loop: beyond it requests fail with not_sent
  std::uint64_t seed = 1;
  int threads = 1;
  double patience_s = 5;  ///< how long all requests may fail
};

/// Receives what became of requests, of several threads at once.
class Outcomes {
 public:
  virtual ~Outcomes() = default;
  /// `example` is empty unless the request failed.
  virtual void add(const Outcome& outcome, std::string example) = 0;
};

/// A closed loop sends the next request when one has ended, after a failed one kPause_s later, so
/// that a server that refuses is not flooded. An open loop sends requests at the times of a Poisson
/// process, whatever the server does; a request begins when it was to be sent, also where it was
/// sent later, so that waiting counts (no coordinated omission).
class Generator {
 public:
  static constexpr double kPause_s = 0.01;

  /// Thread `thread` of plan.threads: it sends requests thread, thread + threads, ... at its part
  /// of the rate or concurrency. Plan and outcomes must outlive it.
  Generator(const LoadPlan& plan, int thread, Outcomes& outcomes);
  ~Generator();

  /// Sends requests until `stop`. Throws std::runtime_error.
  void run(const std::atomic<bool>& stop);

 private:
  struct Exchange;

  void send(double begin_s);
  void send_due(double now_s);
  double next_s(double now_s) const;
  void finished(Exchange& exchange, const TransferEnd& end);

  const LoadPlan& plan_;
  Outcomes& outcomes_;
  std::uint64_t next_request_;
  int limit_;  ///< most requests under way
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Exchange*> idle_;
  std::deque<double> resume_s_;  ///< closed loop: when to send instead of failed requests
  std::optional<PoissonArrivals> arrivals_;
  double arrival_s_ = 0;
  HttpClient client_;  ///< last: destroyed before what it writes to
};

}  // namespace doetune::workloads
