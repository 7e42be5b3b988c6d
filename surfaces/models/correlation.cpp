#include "surfaces/models/correlation.h"

#include <cmath>

namespace doetune::surfaces {

Correlation::Correlation(const std::vector<doe::Factor>& factors,
                         const Eigen::VectorXd& log_parameters, double nugget)
    : rates_(log_parameters.size()), nugget_(nugget) {
  for (int f = 0; f < static_cast<int>(factors.size()); ++f) {
    const bool categorical = factors[f].is_categorical();
    (categorical ? categorical_ : numeric_).push_back(f);
    rates_[f] = categorical ? std::exp(log_parameters[f]) : 5 * std::exp(-2 * log_parameters[f]);
  }
}

Correlation Correlation::smooth() const {
  Correlation correlation = *this;
  correlation.nugget_ = 0;
  return correlation;
}

void Correlation::set_distances(const Points& points, const Point& point, Column& column) const {
  column.s.setZero(points.rows());
  for (const int k : numeric_) {
    column.s += rates_[k] * (points.col(k).array() - point[k]).square();
  }
  column.s = column.s.sqrt();
}

// The exponential stands alone, so that it is computed for several points at a time.
void Correlation::write(const Points& points, const Point& point, Column& column,
                        Eigen::Ref<Eigen::ArrayXd> r) const {
  set_distances(points, point, column);
  const Eigen::ArrayXd& s = column.s;
  column.exponent = -s;
  for (const int c : categorical_) {
    column.exponent -= rates_[c] * (points.col(c).array() != point[c]).cast<double>();
  }
  r = column.exponent.exp();
  r *= 1 + s * (1 + s * (1.0 / 3));
  for (Eigen::Index i = 0; nugget_ != 0 && i < r.size(); ++i) {
    if (column.exponent[i] == 0) r[i] += nugget_;
  }
}

Eigen::ArrayXd Correlation::with(const Points& points, const Point& point) const {
  Eigen::ArrayXd r(points.rows());
  Column column;
  write(points, point, column, r);
  return r;
}

Eigen::MatrixXd Correlation::matrix(const Eigen::MatrixXd& points,
                                    const Eigen::MatrixXd& others) const {
  Eigen::MatrixXd r(points.rows(), others.rows());
  Column column;
  for (Eigen::Index j = 0; j < others.rows(); ++j) {
    write(points, others.row(j).transpose(), column, r.col(j).array());
  }
  return r;
}

Eigen::MatrixXd Correlation::matrix(const Eigen::MatrixXd& points) const {
  const Eigen::Index m = points.rows();
  Eigen::MatrixXd r(m, m);
  Column column;
  for (Eigen::Index j = 0; j < m; ++j) {
    write(points.bottomRows(m - j), points.row(j).transpose(), column,
          r.col(j).tail(m - j).array());
  }
  r.triangularView<Eigen::StrictlyUpper>() = r.transpose();
  return r;
}

Eigen::VectorXd Correlation::gradient(const Eigen::MatrixXd& points,
                                      const Eigen::MatrixXd& correlations,
                                      const Eigen::MatrixXd& weights) const {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(rates_.size());
  Column column;
  for (Eigen::Index j = 0; j < points.rows(); ++j) {  // the pairs below the diagonal, twice
    const Eigen::Index others = points.rows() - j - 1;
    const auto later = points.bottomRows(others);
    set_distances(later, points.row(j).transpose(), column);
    const Eigen::ArrayXd& s = column.s;
    const Eigen::ArrayXd weighted =
        2 * weights.col(j).tail(others).array() * correlations.col(j).tail(others).array();
    // dr / ds = -s (1 + s) exp(-s) / 3, and ds / d ln l_k = -5 (x_k - x'_k)^2 / (s l_k^2).
    const Eigen::ArrayXd slope = weighted * (1 + s) / (3 + 3 * s + s.square());
    for (const int k : numeric_) {
      sums[k] += rates_[k] * (slope * (later.col(k).array() - points(j, k)).square()).sum();
    }
    for (const int c : categorical_) {
      sums[c] -=
          rates_[c] * (weighted * (later.col(c).array() != points(j, c)).cast<double>()).sum();
    }
  }
  return sums;
}

}  // namespace doetune::surfaces
