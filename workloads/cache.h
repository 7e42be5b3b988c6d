// The user's cache directory: files that programs keep from one run to the next.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace doetune::workloads {

/// $XDG_CACHE_HOME/doetune, else ~/.cache/doetune; empty if neither is set.
std::filesystem::path cache_directory();

enum class Renewal { if_needed, always };

/// Returns the text cached as `name` in `directory`. If there is none that `valid` accepts, or with
/// Renewal::always, calls `make` and stores its text, under a lock and by rename, so that of any
/// number of concurrent programs one makes it. Where the directory is empty or not writable, the
/// text is made for this caller alone, with a message on standard error.
std::string kept_text(const std::filesystem::path& directory, const std::string& name,
                      const std::function<bool(const std::string&)>& valid,
                      const std::function<std::string()>& make,
                      Renewal renewal = Renewal::if_needed);

}  // namespace doetune::workloads
