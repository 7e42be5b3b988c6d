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

Eigen::ArrayXd Correlation::scaled_distances(const Eigen::MatrixXd& points,
                                             const Eigen::Ref<const Eigen::VectorXd>& point) const {
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(points.rows());
  for (const int k : numeric_) squares += rates_[k] * (points.col(k).array() - point[k]).square();
  return squares.sqrt();
}

Eigen::ArrayXd Correlation::with(const Eigen::MatrixXd& points,
                                 const Eigen::Ref<const Eigen::VectorXd>& point) const {
  const Eigen::ArrayXd s = scaled_distances(points, point);
  Eigen::ArrayXd exponent = s;
  for (const int c : categorical_) {
    exponent += rates_[c] * (points.col(c).array() != point[c]).cast<double>();
  }
  const auto smooth = (1 + s + s.square() / 3) * (-exponent).exp();
  if (nugget_ == 0) return smooth;
  return smooth + nugget_ * (exponent == 0).cast<double>();
}

Eigen::MatrixXd Correlation::matrix(const Eigen::MatrixXd& points,
                                    const Eigen::MatrixXd& others) const {
  Eigen::MatrixXd r(points.rows(), others.rows());
  for (Eigen::Index j = 0; j < others.rows(); ++j) r.col(j) = with(points, others.row(j));
  return r;
}

Eigen::VectorXd Correlation::gradient(const Eigen::MatrixXd& points,
                                      const Eigen::MatrixXd& correlations,
                                      const Eigen::MatrixXd& weights) const {
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(rates_.size());
  for (Eigen::Index j = 0; j < points.rows(); ++j) {
    const Eigen::ArrayXd weighted = weights.col(j).array() * correlations.col(j).array();
    const Eigen::ArrayXd s = scaled_distances(points, points.row(j));
    // dr / ds = -s (1 + s) exp(-s) / 3, and ds / d ln l_k = -5 (x_k - x'_k)^2 / (s l_k^2).
    const Eigen::ArrayXd slope = weighted * (1 + s) / (3 + 3 * s + s.square());
    for (const int k : numeric_) {
      sums[k] += rates_[k] * (slope * (points.col(k).array() - points(j, k)).square()).sum();
    }
    for (const int c : categorical_) {
      sums[c] -=
          rates_[c] * (weighted * (points.col(c).array() != points(j, c)).cast<double>()).sum();
    }
  }
  return sums;
}

}  // namespace doetune::surfaces
