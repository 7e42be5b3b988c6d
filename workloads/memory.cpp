#include "workloads/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "workloads/infeasible.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> number_in(const fs::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  if (stream >> number) return number;
  return std::nullopt;
}

/// The number in the line "key number".
std::optional<std::int64_t> number_after(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string word;
    std::int64_t number = 0;
    if (words >> word >> number && word == key) return number;
  }
  return std::nullopt;
}

/// The file names of a cgroup hierarchy.
struct Hierarchy {
  fs::path top;
  const char* limit;
  const char* usage;
  const char* droppable;  // reclaimable memory, in memory.stat
};

/// The smallest memory below the limits of a group and its ancestors.
std::int64_t left_below_limits(const Hierarchy& hierarchy, fs::path group) {
  std::int64_t lowest = kUnknown;
  for (;; group = group.parent_path()) {
    const fs::path directory = hierarchy.top / group.relative_path();
    const auto limit = number_in(directory / hierarchy.limit);  // "max" is not a number
    const auto usage = number_in(directory / hierarchy.usage);
    if (limit && usage) {
      const auto droppable = number_after(directory / "memory.stat", hierarchy.droppable);
      lowest = std::min(lowest, std::max<std::int64_t>(0, *limit - *usage + droppable.value_or(0)));
    }
    if (group == group.parent_path()) return lowest;
  }
}

}  // namespace

std::int64_t available_memory(const fs::path& root) {
  std::int64_t lowest = kUnknown;
  if (const auto kilobytes = number_after(root / "proc/meminfo", "MemAvailable:"))
    lowest = *kilobytes * 1024;
  const fs::path groups = root / "sys/fs/cgroup";
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {  // "number:controllers:/path"
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t path = line.find(':', controllers) + 1;
    if (controllers == 0 || path == 0) continue;
    const std::string names = "," + line.substr(controllers, path - 1 - controllers) + ",";
    if (names == ",,")
      lowest = std::min(lowest,
                        left_below_limits({groups, "memory.max", "memory.current", "inactive_file"},
                                          line.substr(path)));
    if (names.find(",memory,") != std::string::npos)
      lowest = std::min(lowest, left_below_limits({groups / "memory", "memory.limit_in_bytes",
                                                   "memory.usage_in_bytes", "total_inactive_file"},
                                                  line.substr(path)));
  }
  return lowest;
}

void require_memory(std::int64_t bytes, std::string_view purpose, const fs::path& root) {
  const std::int64_t available = available_memory(root);
  if (bytes > available)
    throw Infeasible(fmt::format("not enough memory for {}: {} bytes requested, {} available",
                                 purpose, bytes, available));
}

}  // namespace doetune::workloads
