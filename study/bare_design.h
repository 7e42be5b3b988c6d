// A design to be judged, whatever it comes from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::study {

struct BareDesign {
  std::string name;
  std::vector<doe::Factor> factors;
  doe::Region region;
  doe::Model model;
  Eigen::MatrixXd coded;  ///< n x k
};

/// Reads a study file (its design is made), a study directory (its run sheet), or a CSV table of
/// settings: every column that plan.csv and results.csv do not use for something else is a factor,
/// numbers from the smallest to the largest of the column, words as categories.
///
/// `model` takes the place of the study's: a name, or terms such as "1, a, b, a*b".
/// Throws StudyError or DirectoryError.
BareDesign load_bare_design(const std::filesystem::path& path,
                            const std::optional<std::string>& model);

}  // namespace doetune::study
