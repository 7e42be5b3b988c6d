#include "surfaces/selection/estimable.h"

#include <algorithm>

#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// Orthonormal columns, extended by Gram-Schmidt.
class Basis {
 public:
  Basis(Eigen::Index n, Eigen::Index max_rank) : columns_(n, std::min(n, max_rank)) {}

  /// Adds the columns; false, and none added, if one is linearly dependent on earlier ones.
  bool add(const Eigen::MatrixXd& columns) {
    constexpr double kNothing = 1e-10;
    const Eigen::Index before = kept_;
    for (Eigen::Index c = 0; c < columns.cols(); ++c) {
      Eigen::VectorXd rest = columns.col(c);
      for (int pass = 0; pass < 2; ++pass) {  // twice, for accuracy
        rest -= columns_.leftCols(kept_) * (columns_.leftCols(kept_).transpose() * rest);
      }
      if (kept_ == columns_.cols() || rest.norm() <= kNothing * columns.col(c).norm()) {
        kept_ = before;
        return false;
      }
      columns_.col(kept_++) = rest.normalized();
    }
    return true;
  }

 private:
  Eigen::MatrixXd columns_;
  Eigen::Index kept_ = 0;
};

}  // namespace

std::vector<doe::Term> estimable_terms(const doe::Model& model, const Eigen::MatrixXd& coded,
                                       const std::vector<int>& blocks) {
  const Eigen::Index n = coded.rows();
  const Eigen::MatrixXd x = model.matrix(coded), of_blocks = block_contrasts(blocks, n);
  Basis basis(n, 1 + of_blocks.cols() + x.cols());
  basis.add(Eigen::VectorXd::Ones(n));
  basis.add(of_blocks);
  std::vector<doe::Term> terms;
  for (int t = 0; t < static_cast<int>(model.terms().size()); ++t) {
    const doe::Term& term = model.terms()[t];
    if (term.order() == 0 || basis.add(x(Eigen::all, model.columns_of(t)))) terms.push_back(term);
  }
  return terms;
}

}  // namespace doetune::surfaces
