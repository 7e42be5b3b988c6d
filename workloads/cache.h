// What programs keep from one run to the next: files in the user's cache directory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace doetune::workloads {

/// $XDG_CACHE_HOME/doetune, else ~/.cache/doetune; empty if neither is set.
std::filesystem::path cache_directory();

enum class Renewal { if_needed, always };

/// The text kept as `name` in `directory`. It is made by `make` and kept there first where there is
/// none that `valid` accepts (or always): under a lock, and renamed into place, so that any number
/// of programs may ask at once and one of them makes it. Where the directory is empty or cannot be
/// written, the text is made for this caller alone, and standard error says so.
std::string kept_text(const std::filesystem::path& directory, const std::string& name,
                      const std::function<bool(const std::string&)>& valid,
                      const std::function<std::string()>& make,
                      Renewal renewal = Renewal::if_needed);

}  // namespace doetune::workloads
