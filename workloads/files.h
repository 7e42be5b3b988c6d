// Whole files that a workload leaves behind.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace doetune::workloads {

/// Writes over what is there. Throws std::runtime_error, with the name.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// The same of numbers as they lie in memory, without a head: numpy.fromfile(path, "f4").
void write_file(const std::filesystem::path& path, std::span<const float> values);

}  // namespace doetune::workloads
