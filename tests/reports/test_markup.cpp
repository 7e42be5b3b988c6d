#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reports/markup/markup.h"

using namespace doetune::reports;

TEST_CASE("Text cannot open or close an element", "[reports][markup]") {
  CHECK(escape_markup("<script>alert('1')</script>") ==
        "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  CHECK(escape_markup("a\" onload=\"x & y") == "a&quot; onload=&quot;x &amp; y");
  CHECK(escape_markup("µs ≤ 5") == "µs ≤ 5");
}

TEST_CASE("What is no character becomes the replacement character", "[reports][markup]") {
  // Unicode 15, table 3-7: the well-formed byte sequences of UTF-8.
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(escape_markup(std::string("a\0b", 3)) == "a" + replaced + "b");
  CHECK(escape_markup("\x1b[31mred") == replaced + "[31mred");
  CHECK(escape_markup("\xff") == replaced);
  CHECK(escape_markup("cut \xE2\x82") == "cut " + replaced + replaced);
  CHECK(escape_markup("\xC0\xAF") == replaced + replaced);                 // overlong
  CHECK(escape_markup("\xED\xA0\x80") == replaced + replaced + replaced);  // surrogate
  CHECK(escape_markup("line\nnext\ttab") == "line\nnext\ttab");
}

TEST_CASE("JSON inside a script element reads back the same and ends nothing",
          "[reports][markup]") {
  const nlohmann::json value = "</script><!-- <script> & \xE2\x80\xA8 \xE2\x80\xA9 \\u003c";
  const std::string escaped = escape_json_for_script(value.dump());
  CHECK(escaped.find_first_of("<>&") == std::string::npos);
  CHECK(escaped.find("\xE2\x80\xA8") == std::string::npos);
  CHECK(nlohmann::json::parse(escaped) == value);
}

TEST_CASE("Markup escapes texts and attributes and closes what it opened", "[reports][markup]") {
  Markup out;
  out.open("p", {{"title", "\"<&"}}).text("a < b").empty("br").element("b", "&").close();
  CHECK(out.take() == "<p title=\"&quot;&lt;&amp;\">a &lt; b<br/><b>&amp;</b></p>\n");
}
