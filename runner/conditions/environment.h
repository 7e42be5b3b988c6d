// The environment of a workload, fit to be written down.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace doetune::runner {

/// What stands in the place of a value that may be secret.
inline constexpr std::string_view kHidden = "(hidden)";

/// Whether a variable may hold a secret: by its name (a word such as TOKEN, KEY or PASSWORD in it),
/// or by its value (a URL with a user in it, the beginning of a well-known kind of token or key).
/// Rather one too many.
bool may_be_secret(std::string_view name, std::string_view value);

/// The variables with the values of secrets hidden, and long ones cut to 1,000 bytes.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

/// The variables of this process.
std::map<std::string, std::string> own_environment();

/// Whether a variable changes what programs do on GPUs and processors (libraries' settings and
/// search paths), rather than who sits where.
bool matters_for_speed(std::string_view name);

}  // namespace doetune::runner
