// Pieces that several sections are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/figures/figures.h"
#include "reports/markup/markup.h"

namespace doetune::reports {

/// A drawing under its conclusion.
void write_figure(const Figure& figure, Markup& out);

/// Figures side by side; `layout` is a class of report.css: "figures", "figures pairs".
void write_figures(const std::vector<Figure>& figures, Markup& out, const char* layout = "figures");

/// A cell of a table: what is read, in its title the exact value where that says more, and after
/// it a drawing, if any.
struct Cell {
  std::string text;
  std::string exact = {};
  bool is_number = true;
  std::string markup = {};
  bool is_prose = false;  ///< a sentence rather than a word or two
};

Cell text_cell(std::string text);

/// A sentence in which `this` is a command: set as code.
Cell prose_cell(std::string text);

Cell number_cell(double value);                        ///< short_number
Cell number_cell(const std::optional<double>& value);  ///< "–" where there is none

/// Too wide for a page, a table either scrolls sideways or shows each row as a list.
enum class WhenNarrow { kScroll, kList };

void write_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                 Markup& out, WhenNarrow narrow = WhenNarrow::kScroll);

/// What opens and closes under a summary line.
void open_details(std::string_view summary, Markup& out);

}  // namespace doetune::reports
