#include "reports/exports/script_text.h"

#include <catch2/catch.hpp>

#include "reports/documents/markdown.h"

using namespace doetune;

TEST_CASE("A literal is printable ASCII whatever the text holds", "[export]") {
  CHECK(reports::script_literal("fp32") == "\"fp32\"");
  CHECK(reports::script_literal("a\"b\\c") == R"("a\"b\\c")");
  CHECK(reports::script_literal("a\nb\r\x1b\x7f") == R"("a\u000ab\u000d\u001b\u007f")");
  CHECK(reports::script_literal("é☃😀") == R"("\u00e9\u2603\U0001f600")");
  CHECK(reports::script_literal("\xff\xc3") == R"("\ufffd\ufffd")");
  CHECK(reports::script_literal(std::string_view("\0", 1)) == R"("\ufffd")");
}

TEST_CASE("A comment never ends before its line does", "[export]") {
  CHECK(reports::script_comment("plain words") == "# plain words\n");
  CHECK(reports::script_comment("a\nos.system('x')\r\x0c") == "# a�os.system('x')��\n");
  CHECK(reports::script_comment("\u2028\u202e\u0085µs") == "# ���µs\n");
  const std::string longer =
      reports::script_comment(std::string(60, 'a') + " " + std::string(60, 'b'));
  CHECK(longer == "# " + std::string(60, 'a') + "\n# " + std::string(60, 'b') + "\n");
}

TEST_CASE("Numbers are read back exactly", "[export]") {
  CHECK(std::stod(reports::script_number(0.1 + 0.2, "")) == 0.1 + 0.2);
  CHECK(reports::script_number(1e300, "") == "1e+300");
  CHECK(reports::script_number(std::numeric_limits<double>::quiet_NaN(), "NA") == "NA");
}

TEST_CASE("Lists are broken between items", "[export]") {
  CHECK(reports::script_list("c(", {"1", "2"}, ")", 2) == "c(1, 2)");
  const std::string list = reports::script_list("c(", std::vector<std::string>(60, "1234"), ")", 2);
  std::size_t begin = 0;
  for (std::size_t end = list.find('\n'); end != std::string::npos; end = list.find('\n', begin)) {
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
  CHECK(begin > 0);
}

TEST_CASE("Text in Markdown reads as the same text", "[markdown]") {
  CHECK(reports::escape_markdown("executors_per_gpu") == "executors_per_gpu");
  CHECK(reports::escape_markdown("_a_ *b* [c](d) <e> `f`|") ==
        R"(\_a\_ \*b\* \[c\](d) \<e> \`f\`\|)");
  CHECK(reports::escape_markdown("two\nlines\x01\xff") == "two lines �");
}

TEST_CASE("Elements become Markdown, and drawings images", "[markdown]") {
  reports::Markdown out;
  out.element("h2", "Answer");
  out.open("p").element("span", "OPEN", {{"class", "badge open"}}).text(" 1. of_all ").close();
  out.element("p", "# no heading");
  out.open("ul").element("li", "one").element("li", "- two").close();
  out.open("dl").element("dt", "a").element("dd", "2 Hz").close();
  out.element("pre", "x: `*`");
  out.open("table").open("thead").open("tr");
  out.element("th", "Name", {{"class", "text"}}).element("th", "n", {{"class", "number"}});
  out.element("th", "Drawing").close().close().open("tbody").open("tr");
  out.element("td", "a|b").element("td", "3").open("td").raw("<svg/>").close();
  out.close().close().close();
  out.open("figure", {{"id", "profile-y"}}).element("h3", "It rises");
  out.open("div").raw("<svg><text>no</text></svg>").close().element("figcaption", "y over a");
  out.close();
  out.element("button", "Reset").element("script", "alert(1)");
  CHECK(out.markdown() ==
        "## Answer\n\n**OPEN** 1. of_all\n\n\\# no heading\n\n- one\n- \\- two\n\n- **a**: 2 Hz\n\n"
        "```\nx: `*`\n```\n\n| Name | n |\n|---|---:|\n| a\\|b | 3 |\n\n"
        "**It rises**\n\n![It rises](figures/profile-y.svg)\n\ny over a\n\n");
}
