// Output for the terminal: aligned tables, colours, and screens redrawn in place.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace doetune::cli {

/// Maximum width of text output.
constexpr std::size_t kColumns = 80;

/// Rows of cells under a header, with columns as wide as their widest cell. A column is
/// right-aligned if all its cells below the header begin like numbers.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> cells);

  /// The lines, each ended by a line feed; cells are not truncated.
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

enum class Colour { kGood, kBad, kCaution, kStrong, kFaint };

/// The text in a colour if standard output is a terminal, unless NO_COLOR is set or TERM is dumb.
std::string coloured(const std::string& text, Colour colour);

/// A number with four significant digits; "-" if there is none.
std::string number_or_dash(const std::optional<double>& value);

/// Breaks text at spaces into lines of at most `columns`, continuation lines indented by `indent`;
/// the first line is assumed to begin at that column.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns);

/// A terminal text that is redrawn in place.
class Screen {
 public:
  /// The screen of standard output; empty if that is not a terminal, or a dumb one.
  static std::optional<Screen> of_stdout();

  explicit Screen(std::function<int()> rows) : rows_(std::move(rows)) {}

  /// The output that replaces the previous text: at most as many lines as the terminal has, clipped
  /// by the terminal at its width.
  std::string redrawn(const std::string& text);

 private:
  std::function<int()> rows_;
  int drawn_ = 0;  ///< number of lines of the previous text
};

/// "warning: ..." for each, on standard error.
void say_warnings(const std::vector<std::string>& warnings);

/// "Next: doetune run fccd", on standard error, so that standard output contains results only.
void say_next(const std::string& command);

}  // namespace doetune::cli
