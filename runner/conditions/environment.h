// Prepares environment variables for recording: hides secrets, selects relevant variables.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace doetune::runner {

/// Replaces a value that may be secret.
inline constexpr std::string_view kHidden = "(hidden)";

/// Whether a variable may hold a secret, by its name (containing a word such as TOKEN, KEY or
/// PASSWORD) or its value (a URL with user information, the prefix of a common kind of token or
/// key). In doubt, true.
bool may_be_secret(std::string_view name, std::string_view value);

/// The variables with secret values hidden and long values cut to 1,000 bytes.
std::map<std::string, std::string> without_secrets(std::map<std::string, std::string> variables);

/// The variables of this process.
std::map<std::string, std::string> own_environment();

/// Whether a variable affects the performance of programs on GPUs and processors (library settings,
/// search paths), as opposed to identifying users or sessions.
bool matters_for_speed(std::string_view name);

}  // namespace doetune::runner
