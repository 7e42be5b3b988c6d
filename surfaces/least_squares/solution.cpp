#include "surfaces/least_squares/solution.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>
#include <numeric>

#include "surfaces/least_squares/blocks.h"
#include "surfaces/least_squares/natural_coefficients.h"

namespace doetune::surfaces {
namespace {

using Quad = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_quad::backend_type,
                                           boost::multiprecision::et_off>;

template <typename Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
template <typename Real>
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
template <typename Real>
using RowVector = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

constexpr const char* kParts[] = {"first order", "two-way interactions", "pure quadratic",
                                  "third order and above"};

/// The part of the analysis of variance that a term belongs to, in fitting order; -1: intercept.
int part_of(const doe::Term& term) {
  const int order = term.order();
  if (order == 0) return -1;
  if (order == 1) return 0;
  if (order > 2) return 3;
  return *std::max_element(term.powers.begin(), term.powers.end()) == 1 ? 1 : 2;
}

std::vector<int> columns_of_part(const doe::Model& model, int part) {
  std::vector<int> columns;
  for (int c = 0; c < model.column_count(); ++c) {
    if (part_of(model.terms()[model.columns()[c].term]) == part) columns.push_back(c);
  }
  return columns;
}

/// The order in which columns are fitted, and the parts they belong to.
struct Order {
  std::vector<int> columns;
  bool intercept = false;  ///< whether the first column is the intercept
  std::vector<ModelPart> parts;
};

Order order_of(const LeastSquaresProblem& problem) {
  Order order;
  for (ModelPart& part : model_parts(problem.model, problem.blocks)) {
    order.columns.insert(order.columns.end(), part.columns.begin(), part.columns.end());
    if (part.name == kMean) {
      order.intercept = true;
    } else {
      order.parts.push_back(std::move(part));
    }
  }
  return order;
}

template <typename Real>
Matrix<Real> coded_points(const LeastSquaresProblem& problem) {
  Matrix<Real> coded = problem.coded.cast<Real>();
  if (problem.settings.size() == 0) return coded;
  for (Eigen::Index f = 0; f < coded.cols(); ++f) {
    const doe::Factor& factor = problem.model.factors()[static_cast<std::size_t>(f)];
    if (factor.is_categorical()) continue;
    const Real low = on_scale<Real>(factor, factor.low), high = on_scale<Real>(factor, factor.high);
    for (Eigen::Index i = 0; i < coded.rows(); ++i) {
      const Real natural = on_scale<Real>(factor, problem.settings(i, f));
      coded(i, f) = 2 * (natural - low) / (high - low) - 1;
    }
  }
  return coded;
}

/// Columns Q with Q'Q = 1 and an upper triangular R such that Q R are the columns that Q held:
/// modified Gram-Schmidt, each column orthogonalised twice. Loops in place of a library's blocked
/// products, which take a minute to compile in three precisions. Source: Björck (1996), Numerical
/// Methods for Least Squares Problems, 2.4.
template <typename Real>
Matrix<Real> orthogonalise(Matrix<Real>& q) {
  Matrix<Real> r = Matrix<Real>::Zero(q.cols(), q.cols());
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index i = 0; i < j; ++i) {
        const Real along = q.col(i).dot(q.col(j));
        q.col(j) -= along * q.col(i);
        r(i, j) += along;
      }
    }
    r(j, j) = q.col(j).norm();
    if (r(j, j) > 0) q.col(j) /= r(j, j);
  }
  return r;
}

/// b with r b = y, for an upper triangle r.
template <typename Real>
Vector<Real> solved(const Matrix<Real>& r, Vector<Real> y) {
  for (Eigen::Index i = r.cols() - 1; i >= 0; --i) {
    y[i] /= r(i, i);
    y.head(i) -= y[i] * r.col(i).head(i);
  }
  return y;
}

/// The decomposed columns, in fitting order.
template <typename Real>
struct Decomposition {
  Decomposition(const LeastSquaresProblem& problem, const Order& order)
      : roots(Vector<Real>::Ones(problem.coded.rows())) {
    const int own = problem.model.column_count();
    Matrix<Real> all(problem.coded.rows(), static_cast<Eigen::Index>(order.columns.size()));
    all.leftCols(own) = problem.model.matrix_of<Real>(coded_points<Real>(problem));
    all.rightCols(all.cols() - own) =
        block_contrasts(problem.blocks, problem.coded.rows()).template cast<Real>();
    x = all(Eigen::all, order.columns);
    means = RowVector<Real>::Zero(x.cols());
    if (problem.weights.size() > 0) roots = problem.weights.cast<Real>().cwiseSqrt();
    lengths = (roots.asDiagonal() * x).colwise().norm().template cast<double>();
    if (order.intercept) centre();
    q = roots.asDiagonal() * x;
    r = orthogonalise(q);
  }

  /// The ratio of the largest to the smallest pivot of the columns, scaled to length 1 before
  /// centring so that a constant column has pivot 0.
  double condition() const {
    Matrix<double> scaled = r.template cast<double>();
    for (Eigen::Index c = 0; c < scaled.cols(); ++c) {
      if (lengths[c] > 0) scaled.col(c) /= lengths[c];
    }
    const Eigen::ColPivHouseholderQR<Matrix<double>> pivoted(scaled);
    const Eigen::VectorXd pivots = pivoted.matrixQR().diagonal().cwiseAbs();
    return pivots.maxCoeff() / pivots.minCoeff();
  }

  Matrix<Real> x;  ///< about the means
  RowVector<Real> means;
  Eigen::RowVectorXd lengths;
  Vector<Real> roots;  ///< of the weights
  Matrix<Real> q, r;   ///< of the columns times the roots

 private:
  void centre() {
    const Vector<Real> contributions = roots.cwiseAbs2() / roots.squaredNorm();
    for (Eigen::Index c = 1; c < x.cols(); ++c) {
      means[c] = contributions.dot(x.col(c));
      x.col(c).array() -= means[c];
    }
  }
};

template <typename Real>
class Solver final : public LeastSquaresSolver {
 public:
  Solver(const LeastSquaresProblem& problem, const Order& order, Decomposition<Real> columns)
      : order_(order), columns_(std::move(columns)), natural_(natural_terms<Real>(problem.model)) {
    const Matrix<Real>& q = columns_.q;
    of_runs_.leverage = q.rowwise().squaredNorm().template cast<double>();
    const Matrix<Real> root = in_place(inverse());
    const Matrix<double> rounded = root.template cast<double>();
    of_runs_.covariance = rounded * rounded.transpose();
    of_runs_.weights_of_runs = rounded * q.template cast<double>().transpose();
    if (problem.weights.size() > 0) {
      of_runs_.weights_of_runs *= problem.weights.cwiseSqrt().asDiagonal();
    }
    of_runs_.parts = order_.parts;
    add_natural_roots(root);
  }

  Solution solve(const Eigen::VectorXd& z) const override {
    const Vector<Real> exact = z.cast<Real>();
    const Vector<Real> scaled = exact.cwiseProduct(columns_.roots);
    Vector<Real> along(columns_.q.cols());
    for (Eigen::Index j = 0; j < along.size(); ++j) along[j] = columns_.q.col(j).dot(scaled);
    const Vector<Real> centred_b = solved(columns_.r, along);
    Vector<Real> fitted = Vector<Real>::Zero(exact.size());
    for (Eigen::Index j = 0; j < along.size(); ++j) fitted += centred_b[j] * columns_.x.col(j);
    Solution solution = of_runs_;
    solution.fitted = fitted.template cast<double>();
    solution.residuals = (exact - fitted).template cast<double>();
    add_sums(along, solution.parts);
    Vector<Real> b = centred_b;
    if (order_.intercept) b[0] -= columns_.means.dot(centred_b);
    b = in_place(b);
    solution.b = b.template cast<double>();
    solution.natural.resize(solution.natural_roots.size());
    for (std::size_t i = 0; i < natural_.size(); ++i) {
      Real estimate = 0;
      for (const auto& [column, weight] : natural_[i].second) estimate += weight * b[column];
      solution.natural[static_cast<Eigen::Index>(i)] = static_cast<double>(estimate);
    }
    return solution;
  }

  const Eigen::MatrixXd& covariance() const override { return of_runs_.covariance; }

 private:
  /// The inverse of r, with the intercept's row about the origin.
  Matrix<Real> inverse() const {
    const Eigen::Index p = columns_.r.cols();
    Matrix<Real> root(p, p);
    for (Eigen::Index j = 0; j < p; ++j) {
      root.col(j) = solved<Real>(columns_.r, Vector<Real>::Unit(p, j));
      if (order_.intercept) root(0, j) -= columns_.means.dot(root.col(j));
    }
    return root;
  }

  /// Reorders rows from fitting order to the order of the model.
  Matrix<Real> in_place(const Matrix<Real>& rows) const {
    Matrix<Real> result(rows.rows(), rows.cols());
    for (Eigen::Index j = 0; j < rows.rows(); ++j) {
      result.row(order_.columns[static_cast<std::size_t>(j)]) = rows.row(j);
    }
    return result;
  }

  void add_sums(const Vector<Real>& along, std::vector<ModelPart>& parts) const {
    Eigen::Index before = order_.intercept ? 1 : 0;
    for (ModelPart& part : parts) {
      part.sum_of_squares = static_cast<double>(along.segment(before, part.df()).squaredNorm());
      before += part.df();
    }
  }

  void add_natural_roots(const Matrix<Real>& root) {
    of_runs_.natural_roots.resize(static_cast<Eigen::Index>(natural_.size()));
    for (std::size_t i = 0; i < natural_.size(); ++i) {
      const auto& [name, contributions] = natural_[i];
      RowVector<Real> row = RowVector<Real>::Zero(root.cols());
      for (const auto& [column, weight] : contributions) row += weight * root.row(column);
      of_runs_.natural_terms.push_back(name);
      of_runs_.natural_roots[static_cast<Eigen::Index>(i)] = static_cast<double>(row.norm());
    }
  }

  Order order_;
  Decomposition<Real> columns_;
  std::vector<std::pair<std::string, Contributions<Real>>> natural_;
  Solution of_runs_;  ///< the parts that do not depend on the response
};

template <typename Real>
std::unique_ptr<const LeastSquaresSolver> solver_in(const LeastSquaresProblem& problem,
                                                    const Order& order) {
  return std::make_unique<Solver<Real>>(problem, order, Decomposition<Real>(problem, order));
}

}  // namespace

std::vector<ModelPart> model_parts(const doe::Model& model, const std::vector<int>& blocks) {
  std::vector<ModelPart> parts;
  std::vector<int> mean = columns_of_part(model, -1);
  if (!mean.empty()) parts.push_back({kMean, std::move(mean)});
  std::vector<int> contrasts(static_cast<std::size_t>(block_count(blocks) - 1));
  std::iota(contrasts.begin(), contrasts.end(), model.column_count());
  if (!contrasts.empty()) parts.push_back({kBlocks, std::move(contrasts)});
  for (int part = 0; part < 4; ++part)
    parts.push_back({kParts[part], columns_of_part(model, part)});
  return parts;
}

std::unique_ptr<const LeastSquaresSolver> least_squares_solver(const LeastSquaresProblem& problem) {
  constexpr double kSingular = 1e12, kSmall = 20'000;
  constexpr double kLarge = 1'000'000;  // above which extended precision takes seconds
  const Order order = order_of(problem);
  const Eigen::Index n = problem.coded.rows();
  if (n < static_cast<Eigen::Index>(order.columns.size())) return nullptr;
  const auto p = static_cast<double>(order.columns.size());
  Decomposition<double> first(problem, order);
  const double condition = first.condition();
  if (!(condition < kSingular)) return nullptr;
  const double work = static_cast<double>(n) * p * p;
  const bool small = work <= kSmall;
  const double bad = work <= kLarge ? 4 : 1000;
  if (small && condition > bad) return solver_in<Quad>(problem, order);
  if (small || condition > bad) return solver_in<long double>(problem, order);
  return std::make_unique<Solver<double>>(problem, order, std::move(first));
}

}  // namespace doetune::surfaces
