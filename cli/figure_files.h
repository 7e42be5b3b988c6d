// Figures as files for papers and slides.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace doetune::cli {

/// What figures can be converted to: "pdf", "png".
const std::vector<std::string>& figure_kinds();

/// Throws UsageError with the package to install where the program that converts is missing.
void check_figure_converter();

/// Converts SVG files to a kind beside them, by rsvg-convert. Returns the files; throws
/// study::DirectoryError for one that could not be made.
std::vector<std::filesystem::path> converted_figures(
    const std::vector<std::filesystem::path>& figures, const std::string& kind);

}  // namespace doetune::cli
