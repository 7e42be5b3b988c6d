#include "cli/terminal/text_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace doetune::cli {
namespace {

/// Unicode U+2800 + bits, as UTF-8.
std::string braille(unsigned bits) {
  const unsigned code = 0x2800 + bits;
  return {static_cast<char>(0xE2), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

/// The bit of a dot by its position in the cell, from the top left (ISO/IEC 10646, Braille
/// Patterns).
constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/// The index among n equal parts of [0, 1] that contains `fraction`, clamped.
int index_of(double fraction, int n) {
  return std::clamp(static_cast<int>(std::floor(fraction * n)), 0, n - 1);
}

}  // namespace

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string locale(value);
    for (char& c : locale) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

TextCanvas::TextCanvas(int columns, int rows, bool unicode)
    : columns_(columns),
      rows_(rows),
      unicode_(unicode),
      cells_(static_cast<std::size_t>(columns) * rows) {}

bool TextCanvas::holds(int column, int row) const {
  return column >= 0 && column < columns_ && row >= 0 && row < rows_;
}

int TextCanvas::column_of(double x) const { return index_of(x, columns_); }
int TextCanvas::row_of(double y) const { return index_of(1 - y, rows_); }

void TextCanvas::dot(double x, double y, char ascii) {
  if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) return;
  Cell& cell = at(column_of(x), row_of(y));
  cell.dots |= kBits[index_of(1 - y, 4 * rows_) % 4][index_of(x, 2 * columns_) % 2];
  cell.ascii = ascii;
}

void TextCanvas::line(double x0, double y0, double x1, double y1, char ascii) {
  const double across = std::abs(x1 - x0) * 2 * columns_;
  const double down = std::abs(y1 - y0) * 4 * rows_;
  if (!std::isfinite(across + down)) return;
  const int steps = 1 + static_cast<int>(std::min(std::max(across, down), 1e4));
  for (int i = 0; i <= steps; ++i) {
    const double fraction = static_cast<double>(i) / steps;
    dot(x0 + fraction * (x1 - x0), y0 + fraction * (y1 - y0), ascii);
  }
}

void TextCanvas::put(int column, int row, const std::string& character) {
  if (holds(column, row)) at(column, row).character = character;
}

bool TextCanvas::is_empty(int column, int row) const {
  if (!holds(column, row)) return false;
  const Cell& cell = cells_[static_cast<std::size_t>(row) * columns_ + column];
  return cell.dots == 0 && cell.character.empty();
}

bool TextCanvas::has_text(int column, int row) const {
  return holds(column, row) &&
         !cells_[static_cast<std::size_t>(row) * columns_ + column].character.empty();
}

std::vector<std::string> TextCanvas::lines() const {
  std::vector<std::string> lines(rows_);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i];
    std::string& line = lines[i / columns_];
    if (!cell.character.empty()) {
      line += cell.character;
    } else if (cell.dots == 0) {
      line += ' ';
    } else {
      line += unicode_ ? braille(cell.dots) : std::string(1, cell.ascii);
    }
  }
  return lines;
}

}  // namespace doetune::cli
