// Replaces {name} placeholders in the arguments of a command.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace doetune::study {

/// Replaces every {name} by value(name); {{ and }} are literal braces. Throws std::invalid_argument
/// for an unmatched {.
std::string fill_template(const std::string& text,
                          const std::function<std::string(const std::string&)>& value);

/// The names of the placeholders in some arguments. Throws like fill_template.
std::set<std::string> names_in(const std::vector<std::string>& arguments);

/// Fills the placeholders of one argument of a command. In a script passed to a shell (`sh -c
/// SCRIPT`) each value is quoted for its position, so that the shell reads it as a single word, or
/// literally inside quotes of the script.
std::string fill_argument(const std::vector<std::string>& command, std::size_t argument,
                          const std::function<std::string(const std::string&)>& value);

/// Quotes a word for a POSIX shell if it contains special characters; the shell reads it back
/// unchanged.
std::string shell_quoted(const std::string& word);

}  // namespace doetune::study
