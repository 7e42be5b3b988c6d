// Arguments of a command with {name} places to fill.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace doetune::study {

/// Replaces every {name} by what `value` makes of the name; {{ and }} are literal braces.
/// Throws std::invalid_argument for a { without its }.
std::string fill_template(const std::string& text,
                          const std::function<std::string(const std::string&)>& value);

/// The same of one argument of a command. In a script that the command hands to a shell
/// (`sh -c SCRIPT`) a value is quoted as its place there needs it, so that the script reads it as
/// one word, or as that text within quotes of its own.
std::string fill_argument(const std::vector<std::string>& command, std::size_t argument,
                          const std::function<std::string(const std::string&)>& value);

/// A word as a POSIX shell reads it back unchanged: quoted where it holds anything that shells
/// read.
std::string shell_quoted(const std::string& word);

}  // namespace doetune::study
