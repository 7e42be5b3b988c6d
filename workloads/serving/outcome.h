// How requests ended.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace doetune::workloads {

enum class Fault {
  none,
  cannot_connect,  ///< nothing listens, or the name is unknown
  refused,         ///< HTTP 429 or 503
  http_error,      ///< any other status that is not 2xx, or an error within a stream
  garbage,         ///< no answer of the protocol
  ended_early,     ///< the connection was closed before the end of the answer
  timed_out,
  not_sent  ///< max_in_flight requests were unanswered
};
inline constexpr std::size_t kFaults = 8;

/// What happened, as the end of "12 requests: ".
std::string_view sentence_of(Fault fault);

/// A request that has ended. Times are in seconds; a request begins when it was to be sent.
struct Outcome {
  double begin_s = 0;
  double end_s = 0;
  double first_token_s = 0;  ///< when its first token arrived; 0: none did
  double last_token_s = 0;
  int output_tokens = 0;
  Fault fault = Fault::none;
};

/// Failed requests by kind, each with what the first of them looked like.
struct FaultCounts {
  std::array<std::size_t, kFaults> counts{};
  std::array<std::string, kFaults> examples{};

  void add(Fault fault, std::string example);
  /// "12 requests: the server refused with HTTP 429 or 503: HTTP 429: busy; 1 request: ..."; empty
  /// if there are none.
  std::string sentences() const;
};

}  // namespace doetune::workloads
