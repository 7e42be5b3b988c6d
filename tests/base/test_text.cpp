#include <catch2/catch.hpp>
#include <string>

#include "base/text.h"

using namespace doetune;

TEST_CASE("UTF-8 characters are those of The Unicode Standard's table 3-7", "[text]") {
  // First and last of each row.
  for (const char* character :
       {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
    CHECK(utf8_length(character) == std::string(character).size());
  for (const char* other : {"\x80", "\xC1\xBF", "\xC2", "\xC2z", "\xE0\x9F\xBF", "\xED\xA0\x80",
                            "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
    CHECK(utf8_length(other) == 0);
}

TEST_CASE("A code point's bytes are read back as one character", "[text]") {
  CHECK(utf8(U'a') == "a");
  CHECK(utf8(U'\u00B2') == "\xC2\xB2");
  CHECK(utf8(U'\u2026') == "\xE2\x80\xA6");
  CHECK(utf8(U'\U0001F600') == "\xF0\x9F\x98\x80");
  for (const char32_t point : {U'\u0080', U'\u07FF', U'\u0800', U'\uFFFF', U'\U00010000'})
    CHECK(utf8_length(utf8(point)) == utf8(point).size());
}

TEST_CASE("Text is shortened at characters", "[text]") {
  CHECK(character_count("R\xC2\xB2 = 1") == 6);
  CHECK(shortened("batch", 5) == "batch");
  CHECK(shortened("batch_size", 5) == "batc\xE2\x80\xA6");
  CHECK(shortened("\xC2\xB2\xC2\xB2\xC2\xB2", 2) == "\xC2\xB2\xE2\x80\xA6");
}

TEST_CASE("Plain text has no control characters and nothing but UTF-8", "[text]") {
  CHECK(is_plain_text(""));
  CHECK(is_plain_text("a\tb\r\nR\xC2\xB2\n"));
  for (const char* other : {"\x1B[2J", "\x7F", "\xC2\x9B", "\xFF", "a\xC2"})
    CHECK_FALSE(is_plain_text(other));
  CHECK_FALSE(is_plain_text(std::string_view("a\0b", 3)));
  CHECK(first_line_not_text("a\nb\n") == std::nullopt);
  CHECK(first_line_not_text("a\nb\x1B\nc") == 2);
}
