#include "reports/documents/write_report.h"

#include <algorithm>

#include "reports/documents/report_formats.h"
#include "reports/json/analysis_json.h"

namespace doetune::reports {
namespace {

void make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw study::DirectoryError(folder.string() + ": cannot be made: " + failed.message());
  }
}

}  // namespace

std::vector<std::filesystem::path> ReportFiles::all() const {
  std::vector<std::filesystem::path> files = pages;
  files.insert(files.end(), figures.begin(), figures.end());
  return files;
}

ReportFiles write_report(const analysis::Analysis& analysis, const std::filesystem::path& folder,
                         const std::vector<std::string>& formats) {
  const Page page = make_page(analysis);
  const std::filesystem::path figures = folder / "figures";
  make_folder(figures);
  ReportFiles files;
  for (const ReportFormat& format : report_formats()) {
    if (std::find(formats.begin(), formats.end(), format.name) == formats.end()) continue;
    files.pages.push_back(folder / std::string(format.file));
    study::write_file_atomically(files.pages.back(), format.write(page));
  }
  for (const Figure* figure : figures_of(page)) {
    files.figures.push_back(figures / (figure->name + ".svg"));
    study::write_file_atomically(files.figures.back(),
                                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + figure->svg);
  }
  return files;
}

ReportFiles write_report(const analysis::Analysis& analysis) {
  return write_report(analysis, analysis.directory->report());
}

void write_answers(const analysis::Analysis& analysis) {
  const std::filesystem::path& folder = analysis.directory->path;
  study::write_file_atomically(folder / "fit.json", fit_json(analysis));
  study::write_file_atomically(folder / "optimum.json", optimum_json(analysis));
}

}  // namespace doetune::reports
