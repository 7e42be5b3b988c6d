#include "runner/processes/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {

bool is_executable(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

std::string search_path(const std::map<std::string, std::string>& environment) {
  const auto own = environment.find("PATH");
  if (own != environment.end()) return own->second;
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::filesystem::path find_program(const std::string& name,
                                   const std::filesystem::path& working_directory,
                                   const std::string& search_path) {
  if (name.find('/') != std::string::npos) {
    const auto file = (working_directory / name).lexically_normal();
    if (is_executable(file)) return file;
    std::error_code ignored;
    const bool exists = std::filesystem::exists(file, ignored);
    throw RunError(fmt::format("cannot run '{}': {} {}{}", name, file.string(),
                               exists ? "is not an executable file" : "does not exist",
                               exists ? "" : study::did_you_mean_entry(file, study::Entry::kFile)),
                   "command.0");
  }
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const auto file = working_directory / search_path.substr(begin, end - begin) / name;
    if (!name.empty() && is_executable(file)) return file;
    begin = end + 1;
  }
  throw RunError(
      fmt::format("cannot run '{}': there is no such program in PATH ({}){}", name, search_path,
                  is_executable(working_directory / name)
                      ? fmt::format("; did you mean './{}'?", name)
                      : ""),
      "command.0");
}

std::filesystem::path program_beside(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
}

std::filesystem::path in_path(const std::string& name) {
  try {
    return find_program(name, "/", search_path({}));
  } catch (const RunError&) {
    return {};
  }
}

}  // namespace doetune::runner
