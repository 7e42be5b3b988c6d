// Server-sent events: the data of each event, from bytes as they arrive.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace doetune::workloads {

/// Reads a stream of server-sent events, however it is cut into pieces. Of each event only the data
/// is kept: lines `data: TEXT`, joined by line feeds; comments and other fields are skipped. Lines
/// end with LF, CR or CR LF; an empty line ends an event, and one that the stream does not end is
/// dropped.
/// Source: WHATWG, HTML Living Standard, section 9.2.6, "Interpreting an event stream".
class EventStream {
 public:
  /// The longest line, and the longest data of an event: servers are not trusted.
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  /// Forgets everything, for the next stream.
  void clear();

  /// Reads the next bytes and calls on_data(text) for each event that they complete; the text is
  /// valid during the call. False, for good, once a line or an event has more than kMaxBytes.
  template <class OnData>
  bool feed(std::string_view bytes, OnData&& on_data) {
    while (!bytes.empty() && !too_long_) {
      if (take_line(bytes) && take_event()) {
        on_data(std::string_view(data_));
        data_.clear();
      }
    }
    return !too_long_;
  }

 private:
  bool take_line(std::string_view& bytes);
  bool take_event();

  std::string line_;  ///< the line begun in earlier bytes, or the complete one
  std::string_view complete_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;  ///< a line feed would belong to the line that has ended
  bool at_start_ = true;
  bool too_long_ = false;
};

}  // namespace doetune::workloads
