// Draws with characters: braille if the terminal supports it, otherwise ASCII.
#pragma once

#include <string>
#include <vector>

namespace doetune::cli {

/// Whether the locale uses UTF-8, by LC_ALL, LC_CTYPE or LANG.
bool locale_is_utf8();

/// A rectangle of character cells. A cell contains dots, two by four (one in ASCII), or a
/// character.
class TextCanvas {
 public:
  TextCanvas(int columns, int rows, bool unicode);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  bool unicode() const { return unicode_; }
  int dots_across() const { return columns_ * (unicode_ ? 2 : 1); }

  /// A dot at (x, y) in [0, 1] x [0, 1], y upwards; ignored outside.
  void dot(double x, double y, char ascii = '*');

  /// Dots along the line segment between two points.
  void line(double x0, double y0, double x1, double y1, char ascii = '*');

  /// Writes one character, replacing the content of the cell; ignored outside of the canvas.
  void put(int column, int row, const std::string& character);

  /// Whether a cell contains neither dots nor a character.
  bool is_empty(int column, int row) const;

  /// Whether a cell contains a character.
  bool has_text(int column, int row) const;

  /// The cell that contains a point; rows count from the top.
  int column_of(double x) const;
  int row_of(double y) const;

  /// The lines from top to bottom, each as wide as the canvas.
  std::vector<std::string> lines() const;

 private:
  struct Cell {
    unsigned char dots = 0;
    char ascii = ' ';
    std::string character;
  };

  bool holds(int column, int row) const;
  Cell& at(int column, int row) {
    return cells_[static_cast<std::size_t>(row) * columns_ + column];
  }

  int columns_, rows_;
  bool unicode_;
  std::vector<Cell> cells_;
};

}  // namespace doetune::cli
