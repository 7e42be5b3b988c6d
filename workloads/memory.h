// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace doetune::workloads {

/// Bytes: the least of what the system has available (MemAvailable) and what is left below the
/// limits of this process' control groups, of version 1 or 2; caches that can be dropped count as
/// free. Where nothing is known, the largest number there is. `root` holds proc and sys.
std::int64_t available_memory(const std::filesystem::path& root = "/");

/// Before memory is touched: the kernel grants more than there is, and kills who uses it. Throws
/// Infeasible, with what it is for, the bytes asked for and those available.
void require_memory(std::int64_t bytes, std::string_view purpose,
                    const std::filesystem::path& root = "/");

}  // namespace doetune::workloads
