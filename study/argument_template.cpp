#include "study/argument_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace doetune::study {

namespace {

using Value = std::function<std::string(const std::string&)>;

std::string fill(const std::string& text, const std::function<void(char)>& literal,
                 const Value& value) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
    if (text[i] == '{' && !doubled) {
      const std::size_t end = text.find('}', i);
      if (end == std::string::npos) {
        throw std::invalid_argument(
            fmt::format("'{}' has a {{ without a }}; write {{{{ for a literal brace", text));
      }
      result += value(text.substr(i + 1, end - i - 1));
      i = end;
      continue;
    }
    literal(text[i]);
    result += text[i];
    if ((text[i] == '{' || text[i] == '}') && doubled) ++i;
  }
  return result;
}

/// Lexical state at a position in a POSIX shell script: the quotes and parentheses that are open.
class ShellState {
 public:
  void read(char c) {
    const char before = std::exchange(before_, c);
    if (std::exchange(escaped_, false)) return;
    const char inner = open_.empty() ? '\0' : open_.back();
    if (inner == '\'' || inner == '#') {
      if (c == (inner == '#' ? '\n' : '\'')) open_.pop_back();
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == inner && (c == '"' || c == '`')) {
      open_.pop_back();
    } else if (c == '"' || c == '`' || (c == '(' && (before == '$' || inner != '"'))) {
      open_.push_back(c);
    } else if (c == ')' && inner == '(') {
      open_.pop_back();
    } else if (inner != '"' && (c == '\'' || (c == '#' && is_between_words(before)))) {
      open_.push_back(c);
    }
  }

  /// A value ends up here, as part of a word.
  std::string quoted(const std::string& value) {
    before_ = 'x';
    escaped_ = false;
    const char inner = open_.empty() ? '\0' : open_.back();
    if (inner != '\'' && inner != '"') return shell_quoted(value);
    std::string text;
    for (const char c : value) {
      if (inner == '"' && std::string_view("\\\"$`").find(c) != std::string_view::npos)
        text += '\\';
      text += inner == '\'' && c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text;
  }

 private:
  static bool is_between_words(char c) {
    return std::string_view(" \t\n;&|(", 7).find(c) != std::string_view::npos;
  }

  std::string open_;  ///< stack of open ' " ( ` and # (a comment), the innermost last
  char before_ = '\n';
  bool escaped_ = false;
};

bool is_shell(const std::string& word) {
  constexpr std::array kShells{"sh", "bash", "dash", "ash", "ksh", "zsh"};
  const std::string name = word.substr(word.rfind('/') + 1);
  return std::find(kShells.begin(), kShells.end(), name) != kShells.end();
}

/// Whether the argument is the SCRIPT of `sh -c SCRIPT`. Other programs, such as timeout, may
/// precede the shell.
bool is_script(const std::vector<std::string>& command, std::size_t argument) {
  std::size_t option = argument;  // the options right before it
  bool runs_script = false;
  while (option > 0 && command[option - 1].starts_with('-')) {
    --option;
    const std::string& word = command[option];
    runs_script = runs_script || (!word.starts_with("--") && word.find('c') != std::string::npos);
  }
  // `bash -o pipefail -c SCRIPT`: skip an option with a value.
  while (option > 1 && command[option - 2].starts_with('-') && command[option - 2].ends_with('o')) {
    option -= 2;
    while (option > 0 && command[option - 1].starts_with('-')) --option;
  }
  return runs_script && option > 0 && is_shell(command[option - 1]);
}

}  // namespace

std::string fill_template(const std::string& text, const Value& value) {
  return fill(
      text, [](char) {}, value);
}

std::set<std::string> names_in(const std::vector<std::string>& arguments) {
  std::set<std::string> names;
  for (const std::string& argument : arguments) {
    fill_template(argument, [&](const std::string& name) {
      names.insert(name);
      return std::string();
    });
  }
  return names;
}

std::string fill_argument(const std::vector<std::string>& command, std::size_t argument,
                          const Value& value) {
  const std::string& text = command[argument];
  if (!is_script(command, argument)) return fill_template(text, value);
  ShellState state;
  return fill(
      text, [&](char c) { state.read(c); },
      [&](const std::string& name) { return state.quoted(value(name)); });
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
