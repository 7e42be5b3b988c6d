#include "reports/exports/script_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "base/text.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kColumns = 100;
constexpr char32_t kReplacement = 0xFFFD;

/// The code points of a text, with invalid ones replaced.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const auto lead = static_cast<std::uint8_t>(text[i]);
    char32_t point = length < 2 ? lead : lead & (0x7Fu >> length);
    for (std::size_t j = 1; j < length; ++j) point = point << 6 | (text[i + j] & 0x3F);
    points += length == 0 || point == 0 ? kReplacement : point;
    i += length == 0 ? 1 : length;
  }
  return points;
}

bool is_printable_ascii(char32_t point) { return point >= 0x20 && point < 0x7F; }

/// Whether a character may be taken for a line end, or change the text direction.
bool may_end_comment(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

std::string script_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char32_t point : code_points(text)) {
    const auto number = static_cast<std::uint32_t>(point);
    if (point == '"' || point == '\\') literal += '\\';
    literal += is_printable_ascii(point) ? std::string(1, static_cast<char>(point))
               : point < 0x10000         ? fmt::format("\\u{:04x}", number)
                                         : fmt::format("\\U{:08x}", number);
  }
  return literal + '"';
}

std::string script_number(double x, std::string_view missing) {
  return std::isfinite(x) ? fmt::format("{}", x) : std::string(missing);
}

std::string script_comment(std::string_view text) {
  std::string comment = "#", word;
  std::size_t column = 1;
  const auto add_word = [&] {
    if (column > 1 && column + 1 + word.size() > kColumns) {
      comment += "\n#";
      column = 1;
    }
    comment += " " + word;
    column += 1 + word.size();
    word.clear();
  };
  for (const char32_t point : code_points(text)) {
    if (point == ' ') {
      add_word();
    } else {
      word += utf8(may_end_comment(point) ? kReplacement : point);
    }
  }
  add_word();
  return comment + "\n";
}

std::string script_list(std::string_view open, const std::vector<std::string>& items,
                        std::string_view close, std::size_t indent, std::string_view separator) {
  std::string list(open);
  std::size_t column = list.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + std::string(i + 1 < items.size() ? separator : "");
    if (i > 0 && column + 1 + item.size() > kColumns) {
      list += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (i > 0) {
      list += ' ';
      ++column;
    }
    list += item;
    column += item.size();
  }
  return list + std::string(close);
}

}  // namespace doetune::reports
