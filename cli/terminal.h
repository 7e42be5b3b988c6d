// What a person sees: aligned tables, colour where it helps.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace doetune::cli {

/// What all text fits into.
constexpr std::size_t kColumns = 80;

/// Rows of cells under a header, columns as wide as their widest cell. A column whose cells below
/// the header all begin like numbers is aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> cells);

  /// The lines, each ended by a line feed; no cell is cut.
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

enum class Colour { kGood, kBad, kCaution, kStrong, kFaint };

/// The text in a colour where standard output is a terminal that wants it: not with NO_COLOR set,
/// nor TERM=dumb.
std::string coloured(const std::string& text, Colour colour);

/// With four significant digits; "-" where there is none.
std::string number_or_dash(const std::optional<double>& value);

/// Text broken at spaces into lines of at most `columns`, the second and later ones indented: the
/// first is taken to begin at column `indent`.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t columns);

/// Text that is redrawn in place on a terminal.
class Screen {
 public:
  /// That of standard output; empty where it is no terminal, or a dumb one.
  static std::optional<Screen> of_stdout();

  explicit Screen(std::function<int()> rows) : rows_(std::move(rows)) {}

  /// What puts the text in place of the one before: no more lines than the terminal has, each cut
  /// by the terminal at its width.
  std::string redrawn(const std::string& text);

 private:
  std::function<int()> rows_;
  int drawn_ = 0;  ///< lines of the text before
};

/// 45 s, 2 min 10 s, 1 h 5 min.
std::string duration_text(double seconds);

/// "warning: ..." for each, on standard error: what was left out of an answer.
void say_warnings(const std::vector<std::string>& warnings);

/// "Next: doetune run fccd", on standard error, so that standard output holds results alone.
void say_next(const std::string& command);

}  // namespace doetune::cli
