#include "study/plain_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace doetune::study {

bool is_plain_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool is_space = c == '\n' || c == '\r' || c == '\t';
    // U+0080 to U+009F, two bytes each, steer terminals as the controls below 32 do.
    const bool is_c1 =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((c < 32 && !is_space) || c == 127 || is_c1) return false;
  }
  try {
    nlohmann::json(std::string(text)).dump();  // throws for bytes that are not UTF-8
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

std::optional<int> line_of_no_text(std::string_view text) {
  if (is_plain_text(text)) return std::nullopt;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!is_plain_text(text.substr(begin, end - begin))) break;
    begin = end + 1;
  }
  return line;
}

}  // namespace doetune::study
