#include "doe/classical/fold_over.h"

#include <fmt/format.h>

#include "doe/design.h"

namespace doetune::doe {

Eigen::MatrixXd fold_over(const Eigen::MatrixXd& coded, const std::vector<Factor>& factors,
                          std::optional<int> factor) {
  Eigen::MatrixXd folded = coded;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factor && *factor != static_cast<int>(f)) continue;
    if (!factors[f].is_categorical()) {
      folded.col(f) *= -1;
      continue;
    }
    if (factors[f].level_names.size() != 2) {
      throw DesignError(fmt::format("fold-over swaps two levels, but '{}' has {}", factors[f].name,
                                    factors[f].level_names.size()));
    }
    folded.col(f) = 1 - coded.col(f).array();
  }
  return folded;
}

}  // namespace doetune::doe
