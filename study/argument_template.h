// Arguments of a command with {name} places to fill.
#pragma once

#include <functional>
#include <string>

namespace doetune::study {

/// Replaces every {name} by what `value` makes of the name; {{ and }} are literal braces.
/// Throws std::invalid_argument for a { without its }.
std::string fill_template(const std::string& text,
                          const std::function<std::string(const std::string&)>& value);

/// A word as a POSIX shell reads it back unchanged: quoted where it holds anything that shells
/// read.
std::string shell_quoted(const std::string& word);

}  // namespace doetune::study
