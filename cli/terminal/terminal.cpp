#include "cli/terminal/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "analysis/format.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "runner/loop/progress_printer.h"

namespace doetune::cli {
namespace {

bool is_capable_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_capable_terminal() && (no_colour == nullptr || *no_colour == '\0');
}

bool is_number_like(const std::string& cell) {
  return cell.empty() || cell == "-" || (cell[0] >= '0' && cell[0] <= '9') ||
         ((cell[0] == '-' || cell[0] == '<' || cell[0] == '>') && cell.size() > 1);
}

std::string padded(const std::string& cell, std::size_t to, bool right) {
  const std::string space(to - std::min(to, character_count(cell)), ' ');
  return right ? space + cell : cell + space;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::str() const {
  std::string text;
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, true);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], character_count(rows_[r][c]));
      if (r > 0) right[c] = right[c] && is_number_like(rows_[r][c]);
    }
  }
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) line += "  " + padded(row[c], widths[c], right[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string coloured(const std::string& text, Colour colour) {
  if (!wants_colour()) return text;
  const char* code = "0";
  switch (colour) {
    case Colour::kGood:
      code = "32";
      break;
    case Colour::kBad:
      code = "31";
      break;
    case Colour::kCaution:
      code = "33";
      break;
    case Colour::kStrong:
      code = "1";
      break;
    case Colour::kFaint:
      code = "2";
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string number_or_dash(const std::optional<double>& value) {
  return value ? analysis::short_number(*value) : "-";
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns) {
  std::istringstream words(text);
  std::string result;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + character_count(word) > columns) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += character_count(word);
  }
  return result;
}

std::optional<Screen> Screen::of_stdout() {
  if (!is_capable_terminal()) return std::nullopt;
  return Screen([] {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    return known ? static_cast<int>(size.ws_row) : 24;
  });
}

std::string Screen::redrawn(const std::string& text) {
  const int max_rows = std::max(1, rows_() - 1);
  // Disable line wrapping, so that the lines can be counted.
  std::string drawn = "\x1b[?7l";
  if (drawn_ > 0) drawn += fmt::format("\x1b[{}A", std::min(drawn_, max_rows));
  std::istringstream lines(text);
  drawn_ = 0;
  for (std::string line; drawn_ < max_rows && std::getline(lines, line); ++drawn_) {
    drawn += line + "\x1b[K\n";
  }
  return drawn + "\x1b[J\x1b[?7h";
}

void say_warnings(const std::vector<std::string>& warnings) {
  std::fflush(stdout);
  for (const std::string& warning : warnings) print_message("warning: {}\n", warning);
}

void say_next(const std::string& command) {
  flush_output();  // keeps the order of output if both streams go to one file
  print_message("Next: {}\n", command);
}

}  // namespace doetune::cli
