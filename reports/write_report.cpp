#include "reports/write_report.h"

#include "reports/html.h"

namespace doetune::reports {

std::vector<std::filesystem::path> write_report(const Analysis& analysis,
                                                const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw study::DirectoryError(folder.string() + ": cannot be made: " + failed.message());
  }
  const Report report = make_report(analysis);
  std::vector<std::filesystem::path> files;
  const auto write = [&](const std::string& name, const std::string& content) {
    study::write_file_atomically(folder / name, content);
    files.push_back(folder / name);
  };
  write("report.html", report.html);
  for (const Figure& figure : report.figures) {
    write(figure.name + ".svg", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + figure.svg);
  }
  return files;
}

std::vector<std::filesystem::path> write_report(const Analysis& analysis) {
  return write_report(analysis, analysis.directory->report());
}

}  // namespace doetune::reports
