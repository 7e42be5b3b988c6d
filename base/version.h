// Version and release date of doetune, as defined in the root CMakeLists.txt.
#pragma once

#include <string_view>

namespace doetune {

std::string_view version();       ///< "0.1.0"
std::string_view release_date();  ///< "2026-11-22"

}  // namespace doetune
