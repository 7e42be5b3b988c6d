// Server-sent events, cut into pieces everywhere.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "workloads/serving/event_stream.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

using Events = std::vector<std::string>;

/// The events of a stream that arrives in pieces, which end at the places given.
Events events_of(std::string_view stream, const std::vector<std::size_t>& cuts) {
  EventStream reader;
  Events events;
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    const std::string piece(stream.substr(from, to - from));  // bytes that are gone afterwards
    REQUIRE(reader.feed(piece, [&](std::string_view data) { events.emplace_back(data); }));
    from = to;
  }
  return events;
}

// The stream of the HTML standard's examples (section 9.2.6), and what servers make of it.
constexpr std::string_view kStream =
    "\xEF\xBB\xBF"
    ": a comment\n\n"
    "data: YHOO\ndata: +2\r\ndata: 10\n\n"
    "event: add\r\ndata:first\r\n\r\n"
    "data\n\n"
    "data\r\rdata\rdata\r\r"
    "id: 1\nretry: 10\n\n"
    "database: 1\n\n"
    "data:  two spaces\n\n"
    "data: {\"a\":\"\\n: \xC3\xA4\"}\n\n"
    "data: [DONE]\n\n"
    "data: unfinished\n";

const Events kEvents{
    "YHOO\n+2\n10", "first", "", "", "\n", " two spaces", "{\"a\":\"\\n: \xC3\xA4\"}", "[DONE]"};

}  // namespace

TEST_CASE("a stream has the same events wherever it is cut", "[serving]") {
  CHECK(events_of(kStream, {kStream.size()}) == kEvents);
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut)
    CHECK(events_of(kStream, {cut, kStream.size()}) == kEvents);
  std::vector<std::size_t> every_byte;
  for (std::size_t i = 1; i <= kStream.size(); ++i) every_byte.push_back(i);
  CHECK(events_of(kStream, every_byte) == kEvents);
}

TEST_CASE("random pieces of random streams give the events of the whole", "[serving]") {
  const std::vector<std::string> parts{"data", ":", " ", "\n", "\r", "\r\n", "\n\n", "x", "id"};
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomStream random(seed, 0);
    std::string stream;
    for (int i = 0; i < 60; ++i) stream += parts[random.below(parts.size())];
    std::vector<std::size_t> cuts;
    for (std::size_t at = 0; at < stream.size(); at += 1 + random.below(5)) cuts.push_back(at);
    cuts.push_back(stream.size());
    INFO("seed " << seed);
    CHECK(events_of(stream, cuts) == events_of(stream, {stream.size()}));
  }
}

TEST_CASE("an event without end is refused before it fills the memory", "[serving]") {
  const auto accepted = [](const std::string& piece) {
    EventStream reader;
    std::size_t bytes = 0;
    while (bytes < 4 * EventStream::kMaxBytes &&
           reader.feed(piece, [](std::string_view) { FAIL("no event ends"); }))
      bytes += piece.size();
    return bytes;
  };
  CHECK(accepted(std::string(1000, 'x')) <= EventStream::kMaxBytes);  // one line
  CHECK(accepted("data: " + std::string(1000, 'x') + "\n") <= 2 * EventStream::kMaxBytes);
}

TEST_CASE("a cleared stream knows nothing of the one before", "[serving]") {
  EventStream reader;
  Events events;
  const auto keep = [&](std::string_view data) { events.emplace_back(data); };
  CHECK(reader.feed("data: half", keep));
  reader.clear();
  CHECK(reader.feed("data: whole\n\n", keep));
  CHECK(events == Events{"whole"});
}
