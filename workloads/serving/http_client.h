// Many HTTP requests at a time on one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "workloads/serving/outcome.h"
#include "workloads/serving/target.h"

namespace doetune::workloads {

/// How a transfer ended.
struct TransferEnd {
  Fault fault = Fault::none;  ///< cannot_connect, garbage, ended_early or timed_out
  std::string example = {};   ///< the fault in libcurl's words
  long status = 0;            ///< of HTTP; 0: none came
  double time_s = 0;
};

/// A request under way, of the caller's.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Bytes of the answer's body, and its HTTP status; false: the rest is not wanted. The transfer
  /// then ends with the fault `none`.
  virtual bool receive(long status, std::string_view bytes, double now_s) = 0;
  /// The end. New transfers may be started here, this one too.
  virtual void finish(const TransferEnd& end) = 0;
};

/// Sends requests to one target over connections that are kept open, by libcurl's multi interface
/// and epoll. Proxies of the environment are not used, redirections not followed. All times are of
/// monotonic_s().
class HttpClient {
 public:
  /// At most `connections` are kept open. Throws std::runtime_error if the system refuses what it
  /// needs.
  HttpClient(const Target& target, int connections);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Begins a POST of the body, or a GET if it is empty. Transfer and body must live until the end,
  /// or until the client is destroyed, which ends transfers without a word.
  void start(Transfer& transfer, const std::string& body);

  /// Moves transfers on until the time given. Throws std::runtime_error.
  void run_until(double time_s);

  /// Moves transfers on until none is left.
  void run();

  int in_flight() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// The body of a GET. Throws std::runtime_error, which names the address and what went wrong.
std::string fetch(const Target& target);

}  // namespace doetune::workloads
