// Writes HTML and SVG with escaped text and balanced elements.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace doetune::reports {

/// Escapes text for HTML, XML, and their quoted attributes: & < > " ' become entities; control
/// characters and invalid UTF-8 become U+FFFD.
std::string escape_markup(std::string_view text);

/// Escapes JSON for a script element: < > & and the two Unicode line separators that end lines in
/// JavaScript become \u escapes, which JSON parses as the same characters.
std::string escape_json_for_script(std::string_view json);

/// A name for use in file names and ids: keeps letters, digits and _, replaces others by _xHH.
std::string file_part(std::string_view name);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Writes elements sequentially. Names and values are untrusted (a factor's name, a program's error
/// output), so everything is escaped except by `raw`, which is for markup generated here.
class Markup {
 public:
  virtual ~Markup() = default;
  virtual Markup& open(std::string_view tag, const Attributes& attributes = {});
  virtual Markup& close();  ///< closes the innermost open element
  virtual Markup& text(std::string_view text);
  virtual Markup& empty(std::string_view tag, const Attributes& attributes = {});
  virtual Markup& raw(std::string_view markup);
  Markup& element(std::string_view tag, std::string_view text, const Attributes& attributes = {});

  /// The markup written. All elements must be closed.
  std::string take();

 private:
  void start(std::string_view tag, const Attributes& attributes);

  std::string out_;
  std::vector<std::string> open_;
};

}  // namespace doetune::reports
