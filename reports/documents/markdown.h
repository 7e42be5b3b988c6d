// Converts report markup to Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/markup/markup.h"

namespace doetune::reports {

/// Escapes text for a paragraph or a table cell, so that it is rendered unchanged.
std::string escape_markdown(std::string_view text);

/// Converts the elements that sections write to CommonMark with GitHub tables. A figure becomes an
/// image, figures/ID.svg; drawings, forms and scripts are omitted, as are table columns that
/// contain nothing else.
class Markdown final : public Markup {
 public:
  Markup& open(std::string_view tag, const Attributes& attributes = {}) override;
  Markup& close() override;
  Markup& text(std::string_view text) override;
  Markup& empty(std::string_view tag, const Attributes& attributes = {}) override;
  Markup& raw(std::string_view markup) override;

  /// The Markdown text. All elements must be closed.
  std::string markdown() const { return out_; }

 private:
  struct Element {
    std::string tag;
    std::string id;
    bool is_badge = false;
    bool is_number = false;
    std::size_t begin = 0;  ///< start of its text in `line_`
  };

  bool inside(std::string_view tag) const;
  void end_paragraph();
  void end_heading(std::size_t level);
  void end_inline(const Element& element, std::string_view mark);
  void end_definition();
  void end_pre();
  void end_table();
  void add_cell(const Element& element);

  std::string out_;   ///< finished blocks
  std::string line_;  ///< text of the current block
  std::string term_;  ///< term of a definition
  std::vector<Element> open_;
  int silent_ = 0;  ///< number of open elements whose content is omitted
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> numeric_;  ///< by column, from the header
};

}  // namespace doetune::reports
