// A fitted study, for the tests of figures and their texts.
#pragma once

#include <fstream>
#include <string>

#include "analysis/analysis.h"
#include "study/directory/import.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

namespace doetune::tests {

struct Case {
  Case(const std::string& text, const std::string& csv) {
    const std::filesystem::path data = folder.path() / "runs.csv";
    std::ofstream(data) << csv;
    directory = study::import_runs(study::parse_study(text, folder.path() / "study.yaml"), data,
                                   folder.path() / "study", true);
    analysis = analysis::analyse(directory);
  }
  explicit Case(const std::string& text) {
    directory = make_fccd_study(folder.path(), text);
    analysis = analysis::analyse(directory);
  }

  TemporaryDirectory folder;
  study::StudyDirectory directory;
  analysis::Analysis analysis;
};

inline std::string head(const std::string& factors, const std::string& model) {
  return "study: example\nseed: 1\ncommand: [./run]\nfactors:\n" + factors + "model: " + model +
         "\nresponses:\n  y: {unit: s, goal: minimize}\n";
}

inline const std::string kTwoFactors =
    "  a: {low: -1, high: 1, step: 0.5}\n  b: {low: -1, high: 1, step: 0.5}\n";

}  // namespace doetune::tests
