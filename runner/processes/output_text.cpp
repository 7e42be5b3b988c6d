#include "runner/processes/output_text.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxLineBytes = 300;

}  // namespace

std::string_view last_line(std::string_view text) {
  const auto says_something = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  const auto last = std::find_if(text.rbegin(), text.rend(), says_something);
  if (last == text.rend()) return {};
  const auto at = static_cast<std::size_t>(text.rend() - last) - 1;
  text = text.substr(0, text.find('\n', at));
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

std::string printable(std::string_view line) {
  line = line.substr(0, kMaxLineBytes);
  std::string text;
  while (!line.empty()) {
    const auto first = static_cast<unsigned char>(line[0]);
    const std::size_t length = utf8_length(line);
    const bool c1 = first == 0xc2 && length == 2 && static_cast<unsigned char>(line[1]) < 0xa0;
    const bool control = first < 0x20 || first == 0x7f || c1 || length == 0;
    text += control ? " " : line.substr(0, length);
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

}  // namespace doetune::runner
