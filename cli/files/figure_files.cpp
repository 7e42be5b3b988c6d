#include "cli/files/figure_files.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "runner/attempts/command.h"
#include "runner/processes/program.h"
#include "study/files.h"

namespace doetune::cli {
namespace {

constexpr const char* kConverter = "rsvg-convert";
constexpr double kTimeLimit_s = 60;  // converting a figure takes some 50 ms

}  // namespace

const std::vector<std::string>& figure_kinds() {
  static const std::vector<std::string> kinds{"pdf", "png"};
  return kinds;
}

void check_figure_converter() {
  if (!runner::in_path(kConverter).empty()) return;
  throw UsageError(fmt::format(
      "doetune report: {}, which converts the figures, is not installed: apt install librsvg2-bin",
      kConverter));
}

std::vector<std::filesystem::path> converted_figures(
    const std::vector<std::filesystem::path>& figures, const std::string& kind) {
  const std::filesystem::path converter = runner::in_path(kConverter);
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& figure : figures) {
    files.push_back(figure);
    files.back().replace_extension(kind);
    const auto from = std::filesystem::absolute(figure),
               to = std::filesystem::absolute(files.back());
    const runner::CommandResult done = runner::run_command(
        {.program = converter,
         .arguments = {kConverter, "--format", kind, "--zoom", kind == "png" ? "2" : "1",
                       "--background-color", "white", "--output", to.string(), from.string()},
         .time_limit_s = kTimeLimit_s});
    if (done.exit_code != 0) {
      throw study::DirectoryError(fmt::format("{}: cannot be made from {}: {}{}", to.string(),
                                              figure.string(), done.problem, done.errors));
    }
  }
  return files;
}

}  // namespace doetune::cli
