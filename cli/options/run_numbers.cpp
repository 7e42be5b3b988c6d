#include "cli/options/run_numbers.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/command.h"

namespace doetune::cli {
namespace {

/// Parses a number; `part` is the text to quote in an error, such as "3-".
int run_number(const char* option, const std::string& text, const std::string& part, int last) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > last) {
    throw UsageError(fmt::format("{}: expected run numbers from 1 to {}, e.g. 3,7-9, found '{}'",
                                 option, last, part));
  }
  return number;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<int> parse_run_numbers(const char* option, const std::string& text, int last) {
  std::vector<int> numbers;
  for (const std::string& part : split_list(text)) {
    const auto dash = part.find('-');
    const int from = run_number(option, part.substr(0, dash), part, last);
    const int to =
        dash == std::string::npos ? from : run_number(option, part.substr(dash + 1), part, last);
    if (from > to) throw UsageError(fmt::format("{}: '{}' ends before it begins", option, part));
    for (int number = from; number <= to; ++number) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace doetune::cli
