#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "study/argument_template.h"

using namespace doetune;

namespace {

/// The output of this machine's shell for a command in which {x} has this value.
std::string printed(std::vector<std::string> command, const std::string& value) {
  std::string line;
  const std::vector<std::string> words = command;
  for (std::size_t i = 0; i < words.size(); ++i) {
    line += study::shell_quoted(
                study::fill_argument(words, i, [&](const std::string&) { return value; })) +
            " ";
  }
  std::FILE* pipe = ::popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 256> part;
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  ::pclose(pipe);
  return text;
}

constexpr std::array kValues{"8",         "two words",   "it's", "a; echo b", "$HOME `id` $(id)",
                             "\"quoted",  "back\\slash", "*",    "",          "# no comment",
                             "-O3 | cat", "line\nend"};

}  // namespace

TEST_CASE("A value in a shell's script is one word there, whatever it holds", "[study][template]") {
  const std::vector<std::string> scripts{
      "printf '<%s>' {x}",
      "printf '<%s>' '{x}'",
      "printf '<%s>' \"{x}\"",
      "printf '<%s>' \"$(printf '%s' {x})\"",
      "printf '<%s>' \"$(printf '%s' \"{x}\")\"",
      "# don't\nprintf '<%s>' {x}",
      "printf \"<%s>\" \\'{x} | sed \"s/<'/</\"",
      "a={x}; printf '<%s>' \"$a\"",
      ": {x}#1 \"{x}\"; printf '<%s>' {x}",
  };
  for (const std::string& script : scripts) {
    for (const std::string value : kValues) {
      if (value.empty() && script.find("\\'") != std::string::npos) continue;
      INFO(script << " with " << value);
      CHECK(printed({"sh", "-c", script}, value) == "<" + value + ">");
    }
  }
  CHECK(printed({"timeout", "9", "/bin/sh", "-e", "-c", "printf %s {x}"}, "a b") == "a b");
}

TEST_CASE("A value that is no part of a script is passed as it is", "[study][template]") {
  const auto filled = [](const std::vector<std::string>& command, std::size_t i) {
    return study::fill_argument(command, i, [](const std::string&) { return "a b"; });
  };
  CHECK(filled({"./bench", "-c", "{x}"}, 2) == "a b");
  CHECK(filled({"sh", "-c", "prog \"$1\"", "sh", "{x}"}, 4) == "a b");
  CHECK(filled({"sh", "script.sh", "{x}"}, 2) == "a b");
  CHECK(filled({"bash", "--norc", "{x}"}, 2) == "a b");
  CHECK(filled({"bash", "-o", "pipefail", "-c", "prog {x}"}, 4) == "prog 'a b'");
  CHECK(filled({"bash", "-euo", "pipefail", "-c", "prog {x} {{1}}"}, 4) == "prog 'a b' {1}");
}
