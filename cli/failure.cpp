#include "cli/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "base/json_format.h"
#include "base/standard_streams.h"

namespace doetune::cli {
namespace {

/// "FILE:LINE:" or "FILE:LINE:COLUMN:" at the start of a message.
struct Position {
  std::string file;
  std::optional<int> line, column;
};

/// Takes "NUMBER:" from the start of the text.
std::optional<int> taken_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size() || *end != ':') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

Position position_of(std::string_view message) {
  for (std::size_t colon = message.find(':'); colon != std::string_view::npos;
       colon = message.find(':', colon + 1)) {
    std::string_view rest = message.substr(colon + 1);
    if (const auto line = taken_number(rest)) {
      return {std::string(message.substr(0, colon)), line, taken_number(rest)};
    }
    if (rest.starts_with(' ')) break;  // the words have begun
  }
  return {};
}

struct Failure {
  std::string message;
  ExitCode code = kInternalError;

  Position position() const { return position_of(message); }
  std::string meaning() const {
    const auto known = exit_meanings();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const ExitMeaning& exit) { return exit.code == code; });
    return found == known.end() ? "" : std::string(found->meaning);
  }
};

json::Format<Failure> failure_format() {
  return json::document<Failure>(
      {{"error", &Failure::message},
       {"exit_code", [](const Failure& failure) { return static_cast<int>(failure.code); }},
       {"meaning", &Failure::meaning},
       {"file?", [](const Failure& failure) { return failure.position().file; }},
       {"line?", [](const Failure& failure) { return failure.position().line; }},
       {"column?", [](const Failure& failure) { return failure.position().column; }}});
}

/// Whether --json stands among the arguments, not after "--".
bool wants_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

}  // namespace

json::Schema error_schema() { return failure_format().schema; }

int fail(const std::vector<std::string>& arguments, const std::string& message, ExitCode code) {
  print_message("{}\n", message);
  if (!wants_json(arguments) || std::ferror(stdout) != 0) return code;
  try {
    fmt::print("{}", failure_format().text({message, code}));
    flush_output();
  } catch (const std::exception& lost) {
    print_message("doetune: {}\n", lost.what());
    return kInternalError;
  }
  return code;
}

}  // namespace doetune::cli
