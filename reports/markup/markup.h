// HTML and SVG with every text escaped and every element closed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace doetune::reports {

/// Text as it may stand in HTML, XML, and their quoted attributes: & < > " ' are entities; control
/// characters and bytes that are no UTF-8 become U+FFFD.
std::string escape_markup(std::string_view text);

/// JSON text as it may stand inside a script element: < > & and the two line separators that
/// JavaScript ends lines at become \u escapes, which JSON reads back as the same characters.
std::string escape_json_for_script(std::string_view json);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Writes elements one after the other. Names and values come from everywhere (a factor's name, a
/// program's error output), so there is one way in that does not escape: `raw`, for markup made
/// here.
class Markup {
 public:
  virtual ~Markup() = default;
  virtual Markup& open(std::string_view tag, const Attributes& attributes = {});
  virtual Markup& close();  ///< the innermost open element
  virtual Markup& text(std::string_view text);
  virtual Markup& empty(std::string_view tag, const Attributes& attributes = {});
  virtual Markup& raw(std::string_view markup);
  Markup& element(std::string_view tag, std::string_view text, const Attributes& attributes = {});

  /// What was written. All elements must be closed.
  std::string take();

 private:
  void start(std::string_view tag, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace doetune::reports
