#include "reports/markup/markup.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>

#include "base/text.h"

namespace doetune::reports {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool is_control(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    if (length == 0 || is_control(text[i])) {
      out += kReplacement;
    } else if (const std::string_view name = entity(text[i]); !name.empty()) {
      out += name;
    } else {
      out += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

std::string escape_json_for_script(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      switch (json[i]) {
        case '<':
          out += "\\u003c";
          break;
        case '>':
          out += "\\u003e";
          break;
        case '&':
          out += "\\u0026";
          break;
        default:
          out += json[i];
      }
    }
  }
  return out;
}

std::string file_part(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    out += plain ? std::string(1, c) : fmt::format("_x{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void Markup::start(std::string_view tag, const Attributes& attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += escape_markup(value);
    out_ += '"';
  }
}

Markup& Markup::open(std::string_view tag, const Attributes& attributes) {
  start(tag, attributes);
  out_ += '>';
  open_.emplace_back(tag);
  return *this;
}

Markup& Markup::close() {
  assert(!open_.empty());
  out_ += "</" + open_.back() + ">";
  // An invisible line break, which keeps the file readable.
  static constexpr std::string_view kBlocks[] = {"p",   "h1", "h2",     "h3", "li",      "tr",
                                                 "svg", "g",  "figure", "ul", "section", "table"};
  for (const std::string_view block : kBlocks) {
    if (open_.back() == block) out_ += '\n';
  }
  open_.pop_back();
  return *this;
}

Markup& Markup::text(std::string_view text) {
  out_ += escape_markup(text);
  return *this;
}

Markup& Markup::element(std::string_view tag, std::string_view content,
                        const Attributes& attributes) {
  return open(tag, attributes).text(content).close();
}

Markup& Markup::empty(std::string_view tag, const Attributes& attributes) {
  start(tag, attributes);
  out_ += "/>";
  return *this;
}

Markup& Markup::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string Markup::take() {
  assert(open_.empty());
  return std::move(out_);
}

}  // namespace doetune::reports
