// The desktop of whoever types the command.
#pragma once

#include <filesystem>

namespace doetune::cli {

/// Opens a file with the desktop's own program for it (xdg-open), which goes on when doetune ends.
/// False where there is no desktop or it has no such program.
bool open_on_desktop(const std::filesystem::path& file);

}  // namespace doetune::cli
