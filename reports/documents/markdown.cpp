#include "reports/documents/markdown.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace doetune::reports {
namespace {

constexpr std::array<std::string_view, 10> kSilent{
    "script", "style", "svg", "button", "select", "input", "canvas", "label", "template", "nav"};

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Escapes the beginning of a paragraph that would be read as a heading, list, quotation or rule.
std::string at_start(std::string text) {
  const auto digits = text.find_first_not_of("0123456789");
  if (text.starts_with('#') || text.starts_with('>') || text.starts_with('=')) return "\\" + text;
  if (text.starts_with("- ") || text.starts_with("+ ") || text.starts_with("--"))
    return "\\" + text;
  if (digits != 0 && digits != std::string::npos && (text[digits] == '.' || text[digits] == ')') &&
      (digits + 1 == text.size() || text[digits + 1] == ' ')) {
    text.insert(digits, "\\");
  }
  return text;
}

std::string attribute(const Attributes& attributes, std::string_view name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& given) { return given.first == name; });
  return found == attributes.end() ? "" : found->second;
}

}  // namespace

std::string escape_markdown(std::string_view text) {
  constexpr std::string_view kSpecial = "\\`*[]<|~&$";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const char c = text[i];
    const bool in_word = i > 0 && i + 1 < text.size() && is_alphanumeric(text[i - 1]) &&
                         is_alphanumeric(text[i + 1]);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (length == 1 && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) {
      out += ' ';
    } else {
      if (kSpecial.find(c) != std::string_view::npos || (c == '_' && !in_word)) out += '\\';
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

bool Markdown::inside(std::string_view tag) const {
  return std::any_of(open_.begin(), open_.end(),
                     [&](const Element& element) { return element.tag == tag; });
}

Markup& Markdown::open(std::string_view tag, const Attributes& attributes) {
  if (tag == "pre") end_paragraph();  // preceding text is not part of it
  const std::string style = attribute(attributes, "class");
  open_.push_back({std::string(tag), attribute(attributes, "id"), style.starts_with("badge"),
                   style == "number", line_.size()});
  if (std::find(kSilent.begin(), kSilent.end(), tag) != kSilent.end()) ++silent_;
  return *this;
}

Markup& Markdown::text(std::string_view text) {
  if (silent_ > 0) return *this;
  const bool literal = inside("pre") || inside("code");
  line_ += literal ? std::string(text) : escape_markdown(text);
  return *this;
}

Markup& Markdown::empty(std::string_view tag, const Attributes& /*attributes*/) {
  if (tag == "br" && silent_ == 0) line_ += ' ';
  return *this;
}

/// Drawings in figures become links to their files; others are omitted.
Markup& Markdown::raw(std::string_view /*markup*/) {
  const auto figure = std::find_if(open_.rbegin(), open_.rend(),
                                   [](const Element& element) { return element.tag == "figure"; });
  if (figure != open_.rend()) out_ += "![" + term_ + "](figures/" + figure->id + ".svg)\n\n";
  return *this;
}

Markup& Markdown::close() {
  assert(!open_.empty());
  const Element element = std::move(open_.back());
  open_.pop_back();
  const std::string& tag = element.tag;
  if (silent_ > 0) {
    silent_ -= std::find(kSilent.begin(), kSilent.end(), tag) != kSilent.end() ? 1 : 0;
  } else if (tag == "strong" || tag == "b" || element.is_badge) {
    end_inline(element, "**");
  } else if (tag == "code" && !inside("pre")) {
    end_inline(element, line_.find('`', element.begin) == std::string::npos ? "`" : "``");
  } else if (tag == "td" || tag == "th") {
    add_cell(element);
  } else if (tag == "tr") {
    rows_.emplace_back();
  } else if (tag == "table") {
    end_table();
  } else if (tag == "pre") {
    end_pre();
  } else if (tag == "h3" && inside("figure")) {
    term_ = trimmed(line_);
    line_ = "**" + term_ + "**";
    end_paragraph();
  } else if (tag.size() == 2 && tag[0] == 'h' && tag[1] >= '1' && tag[1] <= '6') {
    end_heading(static_cast<std::size_t>(tag[1] - '0'));
  } else if (tag == "summary") {
    end_heading(4);
  } else if (tag == "dt") {
    term_ = trimmed(line_);
    line_.clear();
  } else if (tag == "dd" || tag == "li") {
    end_definition();
  } else if (tag == "dl" || tag == "ul" || tag == "ol") {
    out_ += "\n";
  } else if (tag == "figure") {
    term_.clear();
  } else if (tag == "p" || tag == "figcaption" || tag == "div" || tag == "section") {
    end_paragraph();
  }
  return *this;
}

void Markdown::end_paragraph() {
  const std::string text = trimmed(line_);
  line_.clear();
  if (!text.empty()) out_ += at_start(text) + "\n\n";
}

void Markdown::end_heading(std::size_t level) {
  const std::string text = trimmed(line_);
  line_.clear();
  out_ += std::string(level, '#') + " " + text + "\n\n";
}

void Markdown::end_inline(const Element& element, std::string_view mark) {
  const std::string content = line_.substr(element.begin);
  if (content.empty()) return;
  const char* space = mark == "``" ? " " : "";
  line_.replace(element.begin, std::string::npos,
                std::string(mark) + space + content + space + std::string(mark));
}

/// A list item; in a definition list, with its term.
void Markdown::end_definition() {
  const std::string text = trimmed(line_);
  line_.clear();
  out_ += "- " + (term_.empty() ? at_start(text) : "**" + term_ + "**: " + text) + "\n";
  term_.clear();
}

void Markdown::end_pre() {
  std::string fence = "```";
  while (line_.find(fence) != std::string::npos) fence += '`';
  const char* end = line_.ends_with('\n') ? "" : "\n";
  out_ += fence + "\n" + line_ + end + fence + "\n\n";
  line_.clear();
}

void Markdown::add_cell(const Element& element) {
  if (rows_.empty()) rows_.emplace_back();
  if (element.tag == "th") numeric_.push_back(element.is_number);
  rows_.back().push_back(trimmed(line_));
  line_.clear();
}

void Markdown::end_table() {
  std::vector<bool> shown(numeric_.size(), false);
  for (std::size_t r = 1; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < std::min(rows_[r].size(), shown.size()); ++c) {
      shown[c] = shown[c] || !rows_[r][c].empty();
    }
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].empty()) continue;
    std::string rule = "|";
    out_ += "|";
    for (std::size_t c = 0; c < std::min(rows_[r].size(), shown.size()); ++c) {
      if (!shown[c]) continue;
      out_ += " " + rows_[r][c] + " |";
      rule += numeric_[c] ? "---:|" : "---|";
    }
    out_ += "\n" + (r == 0 ? rule + "\n" : "");
  }
  out_ += "\n";
  rows_.clear();
  numeric_.clear();
}

}  // namespace doetune::reports
