// The requests that serving-load sends, one by one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "workloads/lengths.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// A sequence of request bodies without end. The n-th depends on the seed and n alone.
class Requests {
 public:
  /// Each is `text` with a new prompt in place of kPromptMark and a new length in place of
  /// kOutputTokensMark. A prompt of n tokens is n short English words drawn at random: tokenisers
  /// give most of them one token each, and no two prompts share a beginning that could be cached.
  Requests(const std::string& text, Lengths prompt, Lengths output, std::uint64_t seed);

  /// These bodies in their order, again and again; at least one.
  explicit Requests(std::vector<std::string> bodies) : bodies_(std::move(bodies)) {}

  /// Writes the body of request n into `body`.
  void write(std::uint64_t n, std::string& body) const;

 private:
  enum class Mark { none, prompt, output_tokens };
  struct Piece {
    std::string text;
    Mark after;
  };
  std::vector<Piece> pieces_;
  Lengths prompt_, output_;
  std::uint64_t seed_ = 0;
  std::vector<std::string> bodies_;
};

/// The bodies in a file with one JSON object a line: each is `base` (an object or null) changed by
/// the line as by a JSON merge patch (RFC 7396), then by `patch`. A line that has an object `body`,
/// as in OpenAI's batch files, stands for that object. Where `base` has messages and the line has a
/// `prompt` alone, it is the user's message. Throws UsageError with the file and the line.
std::vector<std::string> read_requests(const std::filesystem::path& file, const Json& base,
                                       const Json& patch);

}  // namespace doetune::workloads
