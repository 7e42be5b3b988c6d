// Converts figures to files for papers and slides.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace doetune::cli {

/// The target formats: "pdf", "png".
const std::vector<std::string>& figure_kinds();

/// Throws UsageError, with the package to install, if the converter is missing.
void check_figure_converter();

/// Converts SVG files to the format `kind`, in the same directory, with rsvg-convert. Returns the
/// new files; throws study::DirectoryError if one could not be made.
std::vector<std::filesystem::path> converted_figures(
    const std::vector<std::filesystem::path>& figures, const std::string& kind);

}  // namespace doetune::cli
