// Which doetune this is. Both are said once, in the CMakeLists.txt of the root.
#pragma once

#include <string_view>

namespace doetune {

std::string_view version();       ///< "0.1.0"
std::string_view release_date();  ///< "2026-11-22"

}  // namespace doetune
