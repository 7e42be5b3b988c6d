// Markup as Markdown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/markup/markup.h"

namespace doetune::reports {

/// Text as it may stand in a paragraph or a cell of a table, read as the same text.
std::string escape_markdown(std::string_view text);

/// Takes the elements that sections write, and makes CommonMark with GitHub's tables of them. A
/// figure becomes an image, figures/ID.svg; drawings, forms and scripts are left out, and columns
/// of tables that have nothing else.
class Markdown final : public Markup {
 public:
  Markup& open(std::string_view tag, const Attributes& attributes = {}) override;
  Markup& close() override;
  Markup& text(std::string_view text) override;
  Markup& empty(std::string_view tag, const Attributes& attributes = {}) override;
  Markup& raw(std::string_view markup) override;

  /// What was written. All elements must be closed.
  std::string markdown() const { return out_; }

 private:
  struct Element {
    std::string tag;
    std::string id;
    bool is_badge = false;
    bool is_number = false;
    std::size_t begin = 0;  ///< of its text in `line_`
  };

  bool inside(std::string_view tag) const;
  void end_paragraph();
  void end_heading(std::size_t level);
  void end_inline(const Element& element, std::string_view mark);
  void end_definition();
  void end_pre();
  void end_table();
  void add_cell(const Element& element);

  std::string out_;   ///< blocks that are done
  std::string line_;  ///< of the block under way
  std::string term_;  ///< of a definition
  std::vector<Element> open_;
  int silent_ = 0;  ///< elements open whose content is left out
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> numeric_;  ///< of the columns, by the header
};

}  // namespace doetune::reports
