#include "base/untrusted_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace doetune {
namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxCandidates = 1000;

/// The characters that may form a number at a position.
std::string_view number_at(std::string_view text, std::size_t at) {
  if (text[at] != '-' && (text[at] < '0' || text[at] > '9')) return {};
  const std::size_t end = text.find_first_not_of("0123456789+-.eE", at);
  return text.substr(at, end == std::string_view::npos ? end : end - at);
}

bool is_too_large(std::string_view number) {
  constexpr std::size_t kAlwaysFits = 3;  // characters
  return number.size() > kAlwaysFits &&
         std::isinf(std::strtod(std::string(number).c_str(), nullptr));
}

/// Replaces NaN, infinities and too large numbers outside of strings by null; empty if the text is
/// nested too deeply.
std::optional<std::string> without_specials(std::string_view text) {
  constexpr std::array<std::string_view, 8> kSpecials{"-Infinity", "Infinity", "-NaN", "NaN",
                                                      "-nan",      "nan",      "-inf", "inf"};
  std::string plain;
  plain.reserve(text.size());
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      plain += c;
      plain += text[++i];
      continue;
    }
    if (!in_string) {
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      if (depth > kMaxDepth) return std::nullopt;
      const auto special = std::find_if(kSpecials.begin(), kSpecials.end(), [&](auto word) {
        return text.substr(i).starts_with(word);
      });
      if (special != kSpecials.end()) {
        plain += "null";
        i += special->size() - 1;
        continue;
      }
      const std::string_view number = number_at(text, i);
      if (!number.empty()) {
        plain += is_too_large(number) ? "null" : number;
        i += number.size() - 1;
        continue;
      }
    }
    plain += c;
  }
  return plain;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

}  // namespace

std::optional<nlohmann::json> parse_untrusted(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with('{') || !text.ends_with('}') || text.size() > kMaxJsonBytes) {
    return std::nullopt;
  }
  const auto plain = without_specials(text);
  if (!plain) return std::nullopt;
  nlohmann::json object = nlohmann::json::parse(*plain, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  return object;
}

std::optional<nlohmann::json> last_object(std::string_view output) {
  std::size_t bytes_left = kMaxJsonBytes;  // bounds the work for output without JSON
  std::size_t end = output.size();
  for (int i = 0; i < kMaxCandidates && end > 0; ++i) {
    const std::size_t line_end = output.rfind('\n', end - 1);
    const std::size_t begin = line_end == std::string_view::npos ? 0 : line_end + 1;
    if (output.substr(begin).starts_with('{')) {
      for (const std::string_view candidate :
           {output.substr(begin, end - begin), output.substr(begin)}) {
        if (candidate.size() > bytes_left) return std::nullopt;
        bytes_left -= candidate.size();
        if (auto object = parse_untrusted(candidate)) return object;
      }
    }
    end = begin == 0 ? 0 : begin - 1;
  }
  return std::nullopt;
}

std::map<std::string, double> finite_numbers(const nlohmann::json& object, const char* key) {
  std::map<std::string, double> numbers;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return numbers;
  for (const auto& [name, value] : found->items()) {
    if (value.is_number() && std::isfinite(value.get<double>()))
      numbers[name] = value.get<double>();
  }
  return numbers;
}

}  // namespace doetune
