#include "study/argument_template.h"

#include <fmt/format.h>

#include <stdexcept>

namespace doetune::study {

std::string fill_template(const std::string& text,
                          const std::function<std::string(const std::string&)>& value) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
    if ((text[i] == '{' || text[i] == '}') && doubled) {
      result += text[i++];
    } else if (text[i] == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string::npos) {
        throw std::invalid_argument(
            fmt::format("'{}' has a {{ without a }}; write {{{{ for a literal brace", text));
      }
      result += value(text.substr(i + 1, end - i - 1));
      i = end;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace doetune::study
