// Building blocks shared by sections.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/figures/figures.h"
#include "reports/markup/markup.h"

namespace doetune::reports {

/// A figure with its conclusion.
void write_figure(const Figure& figure, Markup& out);

/// Figures side by side; `layout` is a class of report.css: "figures", "figures pairs".
void write_figures(const std::vector<Figure>& figures, Markup& out, const char* layout = "figures");

/// A table cell: its text, the exact value as its title if that adds information, and an optional
/// drawing after it.
struct Cell {
  std::string text;
  std::string exact = {};
  bool is_number = true;
  std::string markup = {};
  bool is_prose = false;  ///< a sentence, not just one or two words
};

Cell text_cell(std::string text);

/// A sentence in which commands are marked as `this`, rendered as code.
Cell prose_cell(std::string text);

Cell number_cell(double value);                        ///< short_number
Cell number_cell(const std::optional<double>& value);  ///< "–" if empty

/// What a table too wide for the page does: scroll sideways, or show each row as a list.
enum class WhenNarrow { kScroll, kList };

void write_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                 Markup& out, WhenNarrow narrow = WhenNarrow::kScroll);

/// A collapsible element under a summary line.
void open_details(std::string_view summary, Markup& out);

}  // namespace doetune::reports
