// A short name for a text.
#pragma once

#include <string>
#include <string_view>

namespace doetune::study {

/// Fowler-Noll-Vo hash, variant 1a, 64 bits, as 16 hexadecimal digits. Tells texts apart that
/// nobody made to be alike.
std::string text_hash(std::string_view text);

}  // namespace doetune::study
