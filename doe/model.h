// Polynomial models and their model matrices.
#pragma once

#include <Eigen/Core>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// A product of powers of factors: powers[f] is the exponent of factor f; all 0 is the intercept.
/// The exponent of a categorical factor is 0 or 1.
struct Term {
  std::vector<int> powers;

  int order() const;
  bool operator==(const Term&) const = default;
};

/// The name of a term as in study files: "1", "a", "a*b", "a^2".
std::string term_name(const Term& term, const std::vector<Factor>& factors);

/// Thrown for an invalid term or model; the message states what was expected.
struct ModelError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One column of the model matrix. A term without categorical factors has one column; with a
/// categorical factor of L levels it has L - 1, the sum-to-zero contrasts
/// z_j(level) = 1 if level == j, -1 if level == L - 1, else 0, for j = 0 .. L - 2.
struct ModelColumn {
  int term = 0;
  std::vector<int> contrasts;  ///< per factor: the contrast j, or -1 if not categorical
  std::string name;            ///< the term's name; contrasts as "precision[fp32]"
};

/// A polynomial model over factors.
class Model {
 public:
  Model() = default;

  /// Throws ModelError if a term is listed twice or squares a categorical factor.
  Model(std::vector<Factor> factors, std::vector<Term> terms);

  /// The model with a name in names(), ordered 1, linear, interactions, squares, cubes:
  ///   linear          1, a
  ///   pure-quadratic  linear and a^2 (of factors with more than two usable settings)
  ///   interactions    linear and a*b
  ///   quadratic       interactions and a^2 (as above)
  ///   cubic           quadratic and a*b*c, a^2*b, a^3
  static Model named(std::string_view name, std::vector<Factor> factors);

  /// Parses terms like "1", "a", "a*b", "a^2". Throws ModelError, suggesting the nearest valid
  /// factor name for an unknown one.
  static Model parse(const std::vector<std::string>& terms, std::vector<Factor> factors);

  static const std::vector<std::string>& names();

  /// The model followed by those of the given terms that it does not have. Throws ModelError.
  Model with(const std::vector<std::string>& terms) const;

  const std::vector<Factor>& factors() const { return factors_; }
  const std::vector<Term>& terms() const { return terms_; }
  const std::vector<ModelColumn>& columns() const { return columns_; }
  int column_count() const { return static_cast<int>(columns_.size()); }
  std::vector<int> columns_of(int term) const;  ///< of the term with this index in terms()
  std::vector<std::string> term_names() const;

  /// The row of the model matrix at one coded point (one entry per factor): 1 x p.
  Eigen::RowVectorXd row(const Eigen::Ref<const Eigen::VectorXd>& coded) const;

  /// n x p model matrix of n x k coded points.
  Eigen::MatrixXd matrix(const Eigen::MatrixXd& coded) const { return matrix_of<double>(coded); }

  /// The same in any floating-point type.
  template <typename Real>
  Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> matrix_of(
      const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>& coded) const {
    Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> x(coded.rows(), column_count());
    x.setOnes();
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const ModelColumn& column = columns_[static_cast<std::size_t>(c)];
      const Term& term = terms_[static_cast<std::size_t>(column.term)];
      for (std::size_t f = 0; f < factors_.size(); ++f) {
        const auto settings = coded.col(static_cast<Eigen::Index>(f)).array();
        if (column.contrasts[f] >= 0) {
          x.col(c).array() *= settings.unaryExpr([&](const Real& level) {
            return Real(contrast(column, f, static_cast<int>(level)));
          });
          continue;
        }
        for (int power = 0; power < term.powers[f]; ++power) x.col(c).array() *= settings;
      }
    }
    return x;
  }

 private:
  /// The sum-to-zero contrast of a column at a level of factor f.
  int contrast(const ModelColumn& column, std::size_t f, int level) const;

  std::vector<Factor> factors_;
  std::vector<Term> terms_;
  std::vector<ModelColumn> columns_;
};

}  // namespace doetune::doe
