// The requests of a run, from its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "workloads/arrivals.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/lengths.h"

namespace doetune::workloads {

struct RequestKind {
  int vocabulary = 0;
  Lengths prompt;
  Lengths answer;
  std::uint64_t seed = 1;
};

/// Request `number`: lengths and tokens are random, and depend on the seed and the number alone.
GenerationRequest make_request(const RequestKind& kind, std::int64_t number);

/// Requests one after the other, for several threads.
class RequestStream {
 public:
  /// With a rate, requests arrive at random (Poisson) from now on; else the next one arrives
  /// whenever it is asked for.
  RequestStream(const RequestKind& kind, std::optional<double> rate);

  using HasRoom = std::function<bool(const GenerationRequest&)>;

  /// The next request, if it has arrived by now. With a rate it stays where there is no room for
  /// it: other executors may have some.
  std::optional<GenerationRequest> next(const HasRoom& has_room);

 private:
  GenerationRequest arriving();

  std::mutex mutex_;
  RequestKind kind_;
  std::optional<PoissonArrivals> arrivals_;
  GenerationRequest coming_;  // the next arrival
  std::int64_t number_ = 0;
};

}  // namespace doetune::workloads
