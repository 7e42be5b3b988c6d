// Opens files on the user's desktop.
#pragma once

#include <filesystem>

namespace doetune::cli {

/// Opens a file with the desktop's default program (xdg-open), which outlives doetune. False if
/// there is no desktop or no xdg-open.
bool open_on_desktop(const std::filesystem::path& file);

}  // namespace doetune::cli
