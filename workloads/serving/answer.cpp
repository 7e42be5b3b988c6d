#include "workloads/serving/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"

namespace doetune::workloads {
namespace {

constexpr std::size_t kMaxExample = 200;  // characters
constexpr std::size_t kMaxHead = 4096;    // bytes
constexpr std::size_t kMaxKept = std::size_t{1} << 20;
constexpr int kMaxUsage = 100'000'000;

bool succeeded(long status) { return status >= 200 && status < 300; }

/// Whether a text that is not empty follows the key that ends at `at`: white space, a colon, a
/// quote.
bool text_follows(std::string_view event, std::size_t at) {
  const auto skip_spaces = [&] {
    while (at < event.size() && event[at] == ' ') ++at;
  };
  skip_spaces();
  if (at >= event.size() || event[at] != ':') return false;
  ++at;
  skip_spaces();
  return at + 1 < event.size() && event[at] == '"' && event[at + 1] != '"';
}

/// The tokens that an event with usage counts.
std::optional<int> completion_tokens(const std::string& event) {
  const auto json = nlohmann::json::parse(event, nullptr, false);
  if (!json.is_object() || !json.contains("usage") || !json["usage"].is_object())
    return std::nullopt;
  const auto tokens = json["usage"].find("completion_tokens");
  if (tokens == json["usage"].end() || !tokens->is_number_unsigned()) return std::nullopt;
  const auto count = tokens->get<std::uint64_t>();
  return count <= kMaxUsage ? std::optional(static_cast<int>(count)) : std::nullopt;
}

/// One line of plain text.
std::string one_line(std::string_view text) {
  constexpr int kLongestCharacter = 4;
  std::string line(text);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' ' || c == 0x7F; }, ' ');
  for (int i = 1; i < kLongestCharacter && !is_plain_text(line); ++i)
    line.pop_back();  // a character that is cut
  if (!is_plain_text(line)) return fmt::format("{} bytes that are not text", text.size());
  return shortened(line, kMaxExample);
}

}  // namespace

void Answer::clear() {
  events_.clear();
  status_ = 0;
  bytes_ = 0;
  first_s_ = last_s_ = 0;
  chunks_ = read_events_ = 0;
  usage_.clear();
  head_.clear();
  ended_ = false;
  fault_ = Fault::none;
}

bool Answer::receive(long status, std::string_view bytes, double now_s) {
  status_ = status;
  bytes_ += bytes.size();
  if (head_.size() < (strict_ ? kMaxKept : kMaxHead) &&
      (!succeeded(status) || !api_.streams || read_events_ == 0))
    head_.append(bytes);
  if (!succeeded(status)) return head_.size() < kMaxHead;
  if (bytes_ > kMaxBytes) {
    fault_ = Fault::garbage;
  } else if (api_.streams) {
    const bool readable =
        events_.feed(bytes, [&](std::string_view event) { read_event(event, now_s); });
    if (!readable) fault_ = Fault::garbage;
  }
  return fault_ == Fault::none;
}

void Answer::read_event(std::string_view event, double now_s) {
  ++read_events_;
  if (has_text(event)) {
    if (chunks_++ == 0) first_s_ = now_s;
    last_s_ = now_s;
  } else {
    read_other(event);
  }
  const bool ends = !api_.last_event.empty() && event == api_.last_event;
  const bool garbage = !ends && (!event.starts_with('{') || (strict_ && !follows_protocol(event)));
  if (garbage && fault_ == Fault::none) {
    fault_ = Fault::garbage;
    head_ = event.substr(0, kMaxHead);
  }
}

bool Answer::has_text(std::string_view event) {
  const std::string_view key = api_.text_key;
  if (event.size() > text_at_ && event.substr(text_at_).starts_with(key) &&
      text_follows(event, text_at_ + key.size()))
    return true;
  for (std::size_t at = 0; (at = event.find(key, at)) != std::string_view::npos; at += key.size()) {
    if (!text_follows(event, at + key.size())) continue;
    text_at_ = at;
    return true;
  }
  return false;
}

/// An event without text: the role, the reason of the end, usage, an error, or the end itself.
void Answer::read_other(std::string_view event) {
  if (event == api_.last_event) {
    ended_ = true;
  } else if (event.find("\"usage\"") != std::string_view::npos) {
    usage_ = event;
  }
  if (event.find("\"error\"") == std::string_view::npos) return;
  const auto json = nlohmann::json::parse(event, nullptr, false);
  if (!json.is_object() || !json.contains("error") || json["error"].is_null()) return;
  fault_ = Fault::http_error;
  head_ = event.substr(0, kMaxHead);
}

bool Answer::follows_protocol(std::string_view text) const {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains(api_.event_key);
}

Fault Answer::finish(long status) {
  status_ = status;
  if (status_ == 429 || status_ == 503) return Fault::refused;
  if (!succeeded(status_)) return Fault::http_error;
  if (fault_ != Fault::none) return fault_;
  if (api_.streams) {
    if (read_events_ == 0) return bytes_ == 0 ? Fault::ended_early : Fault::garbage;
    return api_.last_event.empty() || ended_ ? Fault::none : Fault::ended_early;
  }
  if (api_.event_key.empty()) return Fault::none;
  const bool object = head_.find_first_not_of(" \t\r\n") != std::string::npos &&
                      head_[head_.find_first_not_of(" \t\r\n")] == '{';
  const bool checked = !strict_ || bytes_ > kMaxKept || follows_protocol(head_);
  return object && checked ? Fault::none : Fault::garbage;
}

std::string Answer::example() const {
  const std::string text = one_line(head_);
  if (!succeeded(status_))
    return fmt::format("HTTP {}{}{}", status_, text.empty() ? "" : ": ", text);
  return fault_ != Fault::none || read_events_ == 0 ? text : "";
}

int Answer::output_tokens() const {
  if (usage_.empty()) return chunks_;
  return completion_tokens(usage_).value_or(chunks_);
}

}  // namespace doetune::workloads
