#include "reports/page/section_parts.h"

#include <algorithm>

#include "analysis/format.h"

namespace doetune::reports {
namespace {

/// A sentence in which `this` marks a command.
void write_prose(std::string_view text, Markup& out) {
  for (bool is_code = false; !text.empty(); is_code = !is_code) {
    const std::string_view part = text.substr(0, text.find('`'));
    is_code ? out.element("code", part) : out.text(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
}

/// In a list layout, a cell carries its column heading.
Attributes cell_attributes(const Cell& cell, const std::string& title, WhenNarrow narrow) {
  Attributes attributes;
  if (narrow == WhenNarrow::kList) attributes.emplace_back("data-label", title);
  if (cell.is_number) attributes.emplace_back("class", "number");
  if (cell.is_prose) attributes.emplace_back("class", "prose");
  if (!cell.exact.empty() && cell.exact != cell.text) attributes.emplace_back("title", cell.exact);
  return attributes;
}

}  // namespace

void write_figure(const Figure& figure, Markup& out) {
  Attributes attributes = {{"id", figure.name}};
  attributes.insert(attributes.end(), figure.data.begin(), figure.data.end());
  out.open("figure", attributes);
  out.element("h3", figure.title);
  out.open("div", {{"class", "drawing"}}).raw(figure.svg).close();
  out.element("figcaption", figure.caption);
  out.close();
}

void write_figures(const std::vector<Figure>& figures, Markup& out, const char* layout) {
  out.open("div", {{"class", layout}});
  for (const Figure& figure : figures) write_figure(figure, out);
  out.close();
}

Cell text_cell(std::string text) { return {std::move(text), {}, false}; }

Cell prose_cell(std::string text) {
  Cell cell = text_cell(std::move(text));
  cell.is_prose = true;
  return cell;
}

Cell number_cell(double value) {
  return {analysis::short_number(value), analysis::exact_number(value)};
}

Cell number_cell(const std::optional<double>& value) {
  return value ? number_cell(*value) : Cell{"–"};
}

void write_table(const std::vector<std::string>& header, const std::vector<std::vector<Cell>>& rows,
                 Markup& out, WhenNarrow narrow) {
  out.open("div", {{"class", narrow == WhenNarrow::kList ? "table list" : "table"}}).open("table");
  out.open("thead").open("tr");
  for (std::size_t c = 0; c < header.size(); ++c) {
    const bool is_number = !rows.empty() && c < rows.front().size() && rows.front()[c].is_number;
    out.element("th", header[c], {{"scope", "col"}, {"class", is_number ? "number" : "text"}});
  }
  out.close().close().open("tbody");
  for (const std::vector<Cell>& row : rows) {
    out.open("tr");
    for (std::size_t c = 0; c < row.size(); ++c) {
      out.open("td", cell_attributes(row[c], header[c], narrow));
      row[c].is_prose ? write_prose(row[c].text, out) : void(out.text(row[c].text));
      out.raw(row[c].markup).close();
    }
    out.close();
  }
  out.close().close().close();
}

void open_details(std::string_view summary, Markup& out) {
  out.open("details").element("summary", summary);
}

}  // namespace doetune::reports
