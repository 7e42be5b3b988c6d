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

/// The part of the analysis a term belongs to, in the order they are fitted; -1 for the intercept.
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

/// The order in which columns are fitted, and which part owns them.
struct Order {
  std::vector<int> columns;
  bool intercept = false;  ///< the first of them
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

/// The columns in the order of fitting.
template <typename Real>
class Decomposition {
 public:
  Decomposition(const LeastSquaresProblem& problem, const Order& order)
      : problem_(problem), order_(order) {
    const int own = problem.model.column_count();
    Matrix<Real> all(problem.z.size(), static_cast<Eigen::Index>(order.columns.size()));
    all.leftCols(own) = problem.model.matrix_of<Real>(coded_points<Real>(problem));
    all.rightCols(all.cols() - own) =
        block_contrasts(problem.blocks, problem.z.size()).template cast<Real>();
    x_ = all(Eigen::all, order.columns);
    means_ = RowVector<Real>::Zero(x_.cols());
    z_ = problem.z.cast<Real>();
    roots_ = Vector<Real>::Ones(x_.rows());
    if (problem.weights.size() > 0) roots_ = problem.weights.cast<Real>().cwiseSqrt();
    lengths_ = (roots_.asDiagonal() * x_).colwise().norm().template cast<double>();
    centre();
    z_ = z_.cwiseProduct(roots_);
    qr_.compute(roots_.asDiagonal() * x_);
  }

  /// The ratio of the largest pivot of the columns to the smallest, all columns brought to length 1
  /// before their means came off, so that a column that does not vary has none.
  double condition() const {
    Matrix<double> r = upper().template cast<double>();
    for (Eigen::Index c = 0; c < r.cols(); ++c) {
      if (lengths_[c] > 0) r.col(c) /= lengths_[c];
    }
    const Eigen::ColPivHouseholderQR<Matrix<double>> pivoted(r);
    const Eigen::VectorXd pivots = pivoted.matrixQR().diagonal().cwiseAbs();
    return pivots.maxCoeff() / pivots.minCoeff();
  }

  Solution solution() const {
    const Eigen::Index p = x_.cols();
    const Matrix<Real> r = upper();
    const auto triangle = r.template triangularView<Eigen::Upper>();
    const Vector<Real> along = (qr_.householderQ().adjoint() * z_).head(p);
    const Vector<Real> centred_b = triangle.solve(along);
    Matrix<Real> root = triangle.solve(Matrix<Real>::Identity(p, p));
    Matrix<Real> q = roots_.asDiagonal() * x_;
    triangle.template solveInPlace<Eigen::OnTheRight>(q);

    Solution solution;
    const Vector<Real> fitted = x_ * centred_b;
    solution.fitted = fitted.template cast<double>();
    solution.residuals = (problem_.z.cast<Real>() - fitted).template cast<double>();
    solution.leverage = q.rowwise().squaredNorm().template cast<double>();
    solution.parts = parts(along);
    Vector<Real> b = centred_b;
    if (order_.intercept) {
      b[0] -= means_.dot(centred_b);
      root.row(0) -= means_ * root;
    }
    b = in_place(b);
    root = in_place(root);
    solution.b = b.template cast<double>();
    const Matrix<double> rounded = root.template cast<double>();
    solution.covariance = rounded * rounded.transpose();
    solution.weights_of_runs = rounded * q.template cast<double>().transpose();
    if (problem_.weights.size() > 0) {
      solution.weights_of_runs *= problem_.weights.cwiseSqrt().asDiagonal();
    }
    add_natural(b, root, solution);
    return solution;
  }

 private:
  void centre() {
    if (!order_.intercept) return;
    const Vector<Real> shares = roots_.cwiseAbs2() / roots_.squaredNorm();
    for (Eigen::Index c = 1; c < x_.cols(); ++c) {
      means_[c] = shares.dot(x_.col(c));
      x_.col(c).array() -= means_[c];
    }
  }

  Matrix<Real> upper() const {
    return qr_.matrixQR().topRows(x_.cols()).template triangularView<Eigen::Upper>();
  }

  /// Rows from the order of fitting to that of the model.
  Matrix<Real> in_place(const Matrix<Real>& rows) const {
    Matrix<Real> result(rows.rows(), rows.cols());
    for (Eigen::Index j = 0; j < rows.rows(); ++j) {
      result.row(order_.columns[static_cast<std::size_t>(j)]) = rows.row(j);
    }
    return result;
  }

  std::vector<ModelPart> parts(const Vector<Real>& along) const {
    std::vector<ModelPart> parts = order_.parts;
    Eigen::Index before = order_.intercept ? 1 : 0;
    for (ModelPart& part : parts) {
      part.sum_of_squares = static_cast<double>(along.segment(before, part.df()).squaredNorm());
      before += part.df();
    }
    return parts;
  }

  void add_natural(const Vector<Real>& b, const Matrix<Real>& root, Solution& solution) const {
    const auto terms = natural_terms<Real>(problem_.model);
    const auto count = static_cast<Eigen::Index>(terms.size());
    solution.natural.resize(count);
    solution.natural_roots.resize(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto& [name, shares] = terms[static_cast<std::size_t>(i)];
      Real estimate = 0;
      RowVector<Real> row = RowVector<Real>::Zero(root.cols());
      for (const auto& [column, share] : shares) {
        estimate += share * b[column];
        row += share * root.row(column);
      }
      solution.natural_terms.push_back(name);
      solution.natural[i] = static_cast<double>(estimate);
      solution.natural_roots[i] = static_cast<double>(row.norm());
    }
  }

  const LeastSquaresProblem& problem_;
  const Order& order_;
  Matrix<Real> x_;
  RowVector<Real> means_;
  Eigen::RowVectorXd lengths_;
  Vector<Real> z_, roots_;
  Eigen::HouseholderQR<Matrix<Real>> qr_;
};

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

std::optional<Solution> solve_least_squares(const LeastSquaresProblem& problem) {
  constexpr double kSingular = 1e12, kSmall = 20'000;
  constexpr double kLarge = 1'000'000;  // where extended precision takes seconds
  const Order order = order_of(problem);
  if (problem.z.size() < static_cast<Eigen::Index>(order.columns.size())) {
    return std::nullopt;
  }
  const auto p = static_cast<double>(order.columns.size());
  const Decomposition<double> first(problem, order);
  const double condition = first.condition();
  if (!(condition < kSingular)) return std::nullopt;
  const double work = static_cast<double>(problem.z.size()) * p * p;
  const bool small = work <= kSmall;
  const double bad = work <= kLarge ? 4 : 1000;
  if (small && condition > bad) return Decomposition<Quad>(problem, order).solution();
  if (small || condition > bad) return Decomposition<long double>(problem, order).solution();
  return first.solution();
}

}  // namespace doetune::surfaces
