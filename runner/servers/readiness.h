// Asks whether a server can be used: an address that answers, or a command that succeeds.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>

namespace doetune::runner {

/// An address such as http://node7:8000/v1/models, or tcp://node7:8000.
struct Address {
  bool http = false;  ///< otherwise a TCP connection is enough
  std::string host;   ///< a name or a number, IPv6 in brackets
  std::string port;   ///< digits; 80 by default for http
  std::string path = "/";
};

/// Empty if the text is not such an address.
std::optional<Address> parse_address(const std::string& text);

/// Why the address does not answer now; empty if it does: http with a status from 200 to 299, tcp
/// by accepting a connection. Takes at most `limit_s`, but for the resolution of the name. TLS is
/// left to commands.
std::string problem_of_address(const Address& address, double limit_s);

/// Repeats a question in a thread of its own until the answer is empty. A pause of kPause_s follows
/// each other answer.
class ReadinessProbe {
 public:
  static constexpr double kPause_s = 0.05;
  using Question = std::function<std::string()>;

  explicit ReadinessProbe(Question problem) : problem_of_(std::move(problem)) {}

  /// Whether the last answer was empty; does not wait for an answer.
  bool is_ready();

  const std::string& problem() const { return problem_; }  ///< the last answer

 private:
  Question problem_of_;
  std::future<std::string> answer_;
  std::string problem_ = "no answer yet";
  double due_s_ = 0;
};

}  // namespace doetune::runner
