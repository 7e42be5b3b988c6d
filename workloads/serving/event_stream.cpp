#include "workloads/serving/event_stream.h"

#include <algorithm>
#include <cstring>

namespace doetune::workloads {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The length of the first line without its end; npos if it does not end here. Twice memchr is
/// several times as fast as a search for either.
std::size_t line_length(std::string_view bytes) {
  const void* feed = std::memchr(bytes.data(), '\n', bytes.size());
  const std::size_t length =
      feed ? static_cast<std::size_t>(static_cast<const char*>(feed) - bytes.data())
           : std::string_view::npos;
  const void* carriage = std::memchr(bytes.data(), '\r', std::min(length, bytes.size()));
  return carriage ? static_cast<std::size_t>(static_cast<const char*>(carriage) - bytes.data())
                  : length;
}

}  // namespace

void EventStream::clear() {
  line_.clear();
  data_.clear();
  has_data_ = after_cr_ = too_long_ = false;
  at_start_ = true;
}

/// Removes the first line from `bytes` and makes it complete_; false if it goes on in later bytes.
bool EventStream::take_line(std::string_view& bytes) {
  if (after_cr_) {
    after_cr_ = false;
    if (bytes.front() == '\n') {
      bytes.remove_prefix(1);
      return false;
    }
  }
  const std::size_t length = line_length(bytes);
  const std::string_view part = bytes.substr(0, length);
  too_long_ = line_.size() + part.size() > kMaxBytes;
  if (too_long_) return false;
  const bool ends = length != std::string_view::npos;
  if (!ends || !line_.empty()) line_.append(part);
  if (!ends) {
    bytes = {};
    return false;
  }
  complete_ = line_.empty() ? part : std::string_view(line_);
  after_cr_ = bytes[length] == '\r';
  bytes.remove_prefix(length + 1);
  if (at_start_ && complete_.starts_with(kByteOrderMark))
    complete_.remove_prefix(kByteOrderMark.size());
  at_start_ = false;
  return true;
}

/// Reads the complete line; true if it ends an event that has data.
bool EventStream::take_event() {
  constexpr std::string_view kField = "data";
  bool ended = false;
  if (complete_.empty()) {
    ended = has_data_;
    has_data_ = false;
  } else if (complete_.starts_with(kField) &&
             (complete_.size() == kField.size() || complete_[kField.size()] == ':')) {
    complete_.remove_prefix(std::min(complete_.size(), kField.size() + 1));
    if (complete_.starts_with(' ')) complete_.remove_prefix(1);
    if (has_data_) data_.push_back('\n');
    has_data_ = true;
    too_long_ = data_.size() + complete_.size() > kMaxBytes;
    if (!too_long_) data_.append(complete_);
  }
  line_.clear();
  return ended;
}

}  // namespace doetune::workloads
