#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "cli/terminal/terminal.h"
#include "cli/terminal/text_canvas.h"

using namespace doetune;

TEST_CASE("Dots become braille patterns as Unicode numbers them", "[cli]") {
  // ISO/IEC 10646: dots 1 to 3 and 7 down the left, 4 to 6 and 8 down the right; U+2800 and bits.
  cli::TextCanvas canvas(1, 1, true);
  canvas.dot(0, 1);
  CHECK(canvas.lines() == std::vector<std::string>{"⠁"});
  canvas.dot(0.99, 0.01);
  CHECK(canvas.lines() == std::vector<std::string>{"⢁"});
  for (const double y : {0.1, 0.3, 0.6, 0.9}) {
    for (const double x : {0.2, 0.8}) canvas.dot(x, y);
  }
  CHECK(canvas.lines() == std::vector<std::string>{"⣿"});
}

TEST_CASE("A line goes from corner to corner, in ASCII too", "[cli]") {
  cli::TextCanvas canvas(4, 2, false);
  canvas.line(0, 0, 1, 1, 'x');
  CHECK(canvas.lines() == std::vector<std::string>{"  xx", "xx  "});
  cli::TextCanvas braille(2, 1, true);
  braille.line(0, 0, 1, 1);
  CHECK(braille.lines() == std::vector<std::string>{"⡠⠊"});
}

TEST_CASE("What is outside of a canvas, or no number, is not drawn", "[cli]") {
  cli::TextCanvas canvas(3, 1, true);
  canvas.dot(-0.01, 0.5);
  canvas.dot(0.5, 1.01);
  canvas.dot(std::nan(""), 0.5);
  canvas.line(0, 0, std::numeric_limits<double>::infinity(), 1);
  canvas.put(3, 0, "x");
  canvas.put(0, -1, "x");
  CHECK(canvas.lines() == std::vector<std::string>{"   "});
  CHECK(canvas.is_empty(0, 0));
  CHECK_FALSE(canvas.is_empty(3, 0));
}

TEST_CASE("Characters lie over dots", "[cli]") {
  cli::TextCanvas canvas(2, 1, true);
  canvas.line(0, 0.5, 1, 0.5);
  canvas.put(1, 0, "★");
  CHECK(canvas.lines().front().ends_with("★"));
  CHECK(canvas.has_text(1, 0));
  CHECK_FALSE(canvas.has_text(0, 0));
}

TEST_CASE("Text is redrawn over the text before, and cut at the terminal's height", "[cli]") {
  int rows = 10;
  cli::Screen screen([&] { return rows; });
  CHECK(screen.redrawn("a\nb\n") == "\x1b[?7la\x1b[K\nb\x1b[K\n\x1b[J\x1b[?7h");
  CHECK(screen.redrawn("c\n") == "\x1b[?7l\x1b[2Ac\x1b[K\n\x1b[J\x1b[?7h");
  rows = 2;
  CHECK(screen.redrawn("d\ne\n") == "\x1b[?7l\x1b[1Ad\x1b[K\n\x1b[J\x1b[?7h");
}
