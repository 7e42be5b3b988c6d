// How much memory this process can still allocate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace doetune::workloads {

/// Bytes: the minimum of the system's available memory (MemAvailable) and what is left below the
/// limits of this process's control groups, version 1 or 2; reclaimable caches count as free. Where
/// nothing is known, the largest representable number. `root` contains proc and sys.
std::int64_t available_memory(const std::filesystem::path& root = "/");

/// Call before memory is touched: the kernel overcommits, and kills the process that uses it.
/// Throws Infeasible, with the purpose, the bytes requested and those available.
void require_memory(std::int64_t bytes, std::string_view purpose,
                    const std::filesystem::path& root = "/");

}  // namespace doetune::workloads
