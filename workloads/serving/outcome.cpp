#include "workloads/serving/outcome.h"

#include <fmt/format.h>

namespace doetune::workloads {

std::string_view sentence_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return "answered";
    case Fault::cannot_connect:
      return "the server cannot be reached";
    case Fault::refused:
      return "the server refused with HTTP 429 or 503";
    case Fault::http_error:
      return "the server reported an error";
    case Fault::garbage:
      return "the answer does not follow the protocol";
    case Fault::ended_early:
      return "the connection was closed before the end of the answer";
    case Fault::timed_out:
      return "no complete answer within request_timeout";
    case Fault::not_sent:
      return "not sent, because max_in_flight requests were unanswered";
  }
  return "";
}

void FaultCounts::add(Fault fault, std::string example) {
  const auto i = static_cast<std::size_t>(fault);
  if (counts[i]++ == 0) examples[i] = std::move(example);
}

std::string FaultCounts::sentences() const {
  std::string text;
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} request{}: {}", text.empty() ? "" : "; ", counts[i],
                        counts[i] == 1 ? "" : "s", sentence_of(static_cast<Fault>(i)));
    if (!examples[i].empty()) text += ": " + examples[i];
  }
  return text;
}

}  // namespace doetune::workloads
