// make_example_report FOLDER: a study directory of the published runs with its report, fit.json and
// optimum.json, for the test that opens the report in a browser.
#include <filesystem>
#include <iostream>

#include "reports/analysis.h"
#include "reports/write_report.h"
#include "tests/reports/fccd_study.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::cerr << "usage: make_example_report FOLDER\n";
    return 2;
  }
  namespace reports = doetune::reports;
  namespace study = doetune::study;
  const std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  const study::StudyDirectory directory = doetune::tests::make_fccd_study(folder);
  const reports::Analysis analysis = reports::analyse(directory);
  study::write_file_atomically(directory.path / "fit.json", reports::fit_json(analysis));
  study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  for (const std::filesystem::path& file : reports::write_report(analysis)) {
    std::cout << file.string() << "\n";
  }
}
