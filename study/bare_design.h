// A design to evaluate, loaded from a study file, a study directory or a CSV table.
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

/// Reads a study file (whose design is generated), a study directory (its run sheet), or a CSV
/// table of settings. In a table, every column that is not a reserved column of plan.csv or
/// results.csv is a factor: numeric from the smallest to the largest value, or categorical if its
/// cells are not numbers.
///
/// `model` overrides the model of the study: a name, or terms such as "1, a, b, a*b".
/// Throws StudyError or DirectoryError.
BareDesign load_bare_design(const std::filesystem::path& path,
                            const std::optional<std::string>& model);

}  // namespace doetune::study
