// One answer of a server, read as it arrives.
#pragma once

#include <string>
#include <string_view>

#include "workloads/serving/api.h"
#include "workloads/serving/event_stream.h"
#include "workloads/serving/outcome.h"

namespace doetune::workloads {

/// Reads answers of one protocol, one after another. In a stream, an event counts as a chunk of
/// tokens if it has a text that is not empty; it is found without parsing the event, for most of a
/// load generator's time would be spent there. Events without text are searched for errors and
/// usage.
class Answer {
 public:
  /// Longer answers are not of the protocol: servers are not trusted.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  /// `strict` parses every event as JSON and requires the protocol's keys.
  explicit Answer(const Api& api, bool strict = false) : api_(api), strict_(strict) {}

  /// Forgets everything, for the next answer.
  void clear();

  /// Reads bytes of the body; false if the rest need not be read.
  bool receive(long status, std::string_view bytes, double now_s);

  /// What is wrong with the answer of this HTTP status after its last byte, if anything.
  Fault finish(long status);
  /// The fault in the server's words, at most some 200 characters in one line; may be empty.
  std::string example() const;

  double first_token_s() const { return first_s_; }
  double last_token_s() const { return last_s_; }
  /// By the server's usage if it gave any, else the number of chunks; 0 where nothing streams.
  int output_tokens() const;

 private:
  void read_event(std::string_view event, double now_s);
  bool has_text(std::string_view event);
  void read_other(std::string_view event);
  bool follows_protocol(std::string_view json) const;

  const Api& api_;
  bool strict_;
  EventStream events_;
  long status_ = 0;
  std::size_t bytes_ = 0;
  double first_s_ = 0;
  double last_s_ = 0;
  int chunks_ = 0;
  int read_events_ = 0;
  std::size_t text_at_ =
      0;                ///< where the last event had its text: mostly the next has it there too
  std::string usage_;   ///< the last event with it
  std::string head_;    ///< beginning of the body of an answer that is no stream, or of an error
  bool ended_ = false;  ///< with the event that ends a stream
  Fault fault_ = Fault::none;
};

}  // namespace doetune::workloads
