#include "surfaces/models/shrunken_posterior.h"

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "surfaces/least_squares/blocks.h"
#include "surfaces/least_squares/solution.h"
#include "surfaces/least_squares/whole_plots.h"
#include "surfaces/models/posterior_draws.h"

namespace doetune::surfaces {
namespace {

constexpr double kNegligible = 1e-10;  // singular values below this fraction of the largest
// The grid of v mean(S^2): 12 points per power of ten.
constexpr int kGridPoints = 169, kPerDecade = 12;
constexpr double kLowest = 1e-4;
// The grid of m d: 4 points per power of ten.
constexpr int kRatioPoints = 25, kRatiosPerDecade = 4;
constexpr double kLowestRatio = 1e-2;

/// 1 and sum-to-zero contrasts of the blocks.
Eigen::MatrixXd constant_and_blocks(const std::vector<int>& blocks, Eigen::Index n) {
  Eigen::MatrixXd columns(n, block_count(blocks));
  columns << Eigen::VectorXd::Ones(n), block_contrasts(blocks, n);
  return columns;
}

/// The columns of the model besides 1.
Eigen::MatrixXd effect_columns(const doe::Model& model, const Eigen::MatrixXd& coded) {
  const Eigen::MatrixXd all = model.matrix(coded);
  std::vector<Eigen::Index> kept;
  for (int c = 0; c < model.column_count(); ++c) {
    const doe::Term& term = model.terms()[static_cast<std::size_t>(model.columns()[c].term)];
    if (term.order() > 0) kept.push_back(c);
  }
  return all(Eigen::all, kept);
}

/// The ratio of the standard errors of coefficients to those of least squares with error sigma: 1
/// unless the loss is robust.
double coefficient_scale(const Fit& fit, const Eigen::VectorXd& roots) {
  if (fit.loss == Loss::kSquares) return 1;
  const Eigen::MatrixXd x =
      roots.asDiagonal() *
      columns_of({fit.model, fit.coded, Eigen::MatrixXd(), Eigen::VectorXd(), fit.blocks});
  const Eigen::MatrixXd inverse =
      (x.transpose() * x).ldlt().solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
  const Eigen::Index own = fit.model.column_count();
  return std::sqrt(fit.unscaled_covariance.trace() / inverse.topLeftCorner(own, own).trace());
}

/// The residuals of the pseudo-values of a robust fit, whose coefficients have `scale` times the
/// errors of least squares with error sigma; else those of the runs.
Eigen::VectorXd pseudo_residuals(const Fit& fit, const Eigen::VectorXd& roots, double scale) {
  if (fit.loss == Loss::kSquares) return fit.residuals;
  const Eigen::VectorXd counted = fit.counts.cwiseProduct(fit.residuals);
  const double length = roots.cwiseProduct(counted).norm();
  return counted * (scale * *fit.sigma * std::sqrt(fit.df_residual) / length);
}

/// The standard deviation of a run over that of the pseudo-values. The median of the residuals,
/// which sigma is after a robust fit, falls short of the errors' as the model takes degrees of
/// freedom.
double run_scale(const Fit& fit, double scale) {
  if (fit.loss == Loss::kSquares) return 1;
  return std::sqrt(static_cast<double>(fit.n) / fit.df_residual) / scale;
}

/// The posterior given H: in the coordinates of the singular vectors of X, whitened and centred by
/// D.
struct GivenErrors {
  /// All whitened. `log_prior` is that of H less half the logarithm of its determinant; errors of a
  /// new run have `next` times the deviation s.
  GivenErrors(const Eigen::MatrixXd& d, const Eigen::MatrixXd& x, const Eigen::VectorXd& z,
              double log_prior_of_errors, double next_deviation)
      : next(next_deviation) {
    // Frisch & Waugh: what D explains is taken out of X and z.
    const Eigen::LDLT<Eigen::MatrixXd> of_blocks(d.transpose() * d);
    const Eigen::MatrixXd of_d = of_blocks.solve(d.transpose());
    const Eigen::MatrixXd from_d = of_d * x;
    const Eigen::MatrixXd centred = x - d * from_d;
    const Eigen::VectorXd rest = z - d * (of_d * z);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::VectorXd& all = svd.singularValues();
    const Eigen::Index rank = (all.array() > kNegligible * all[0]).count();
    s2 = all.head(rank).array().square();
    v = svd.matrixV().leftCols(rank);
    along = (svd.matrixU().leftCols(rank).transpose() * rest).array();
    unexplained = std::max(0.0, rest.squaredNorm() - along.square().sum());
    centre = from_d.row(0);
    at_centre = of_d.row(0).dot(z);
    error_at_centre = of_d.row(0).norm();
    log_prior = log_prior_of_errors - of_blocks.vectorD().array().log().sum() / 2;
  }

  /// v, the common variance of the coefficients, at a point of its grid.
  double variance(int point) const { return shrinkage(point) / s2.mean(); }

  double sum_of_squares(double variance) const {
    return unexplained + (along.square() / (1 + variance * s2)).sum();
  }

  /// The marginal posterior of v and H, on a grid that is even in the logarithm of v.
  double log_weight(int point, double df) const {
    return log_prior + log_prior_of_shrinkage(point) - (variance(point) * s2).log1p().sum() / 2 -
           df / 2 * std::log(sum_of_squares(variance(point)));
  }

  /// Of v on the grid, up to a constant.
  static double log_prior_of_shrinkage(int point) {
    const double u = shrinkage(point);
    return std::log(u) - 1.5 * std::log1p(u);
  }

  Eigen::ArrayXd s2;     ///< squared singular values that are not 0
  Eigen::MatrixXd v;     ///< p x r
  Eigen::ArrayXd along;  ///< r: coordinates of z
  double unexplained = 0;
  Eigen::RowVectorXd centre;  ///< p: what D takes of a row of X
  double at_centre = 0, error_at_centre = 0;
  double log_prior = 0;
  double next = 1;

 private:
  static double shrinkage(int point) {
    return kLowest * std::pow(10.0, static_cast<double>(point) / kPerDecade);
  }
};

/// For every H that is considered.
std::vector<GivenErrors> given_errors(const Eigen::MatrixXd& d, const Eigen::MatrixXd& x,
                                      const Eigen::VectorXd& z,
                                      const std::vector<int>& whole_plots) {
  std::vector<GivenErrors> given;
  if (whole_plots.empty()) {
    given.emplace_back(d, x, z, 0, 1);
    return given;
  }
  const WholePlots plots(whole_plots);
  const double runs = static_cast<double>(z.size()) / plots.count();
  for (int point = 0; point < kRatioPoints; ++point) {
    const double w = kLowestRatio * std::pow(10.0, static_cast<double>(point) / kRatiosPerDecade);
    const double ratio = w / runs;
    const double log_prior = std::log(w) - std::log1p(w) - plots.log_determinant(ratio) / 2;
    given.emplace_back(plots.whitened(d, ratio), plots.whitened(x, ratio), plots.whitened(z, ratio),
                       log_prior, std::sqrt(1 + ratio));
  }
  return given;
}

/// The logarithm of the sum of the prior of v over its grid.
double log_sum_of_prior() {
  std::vector<double> logs;
  for (int i = 0; i < kGridPoints; ++i) logs.push_back(GivenErrors::log_prior_of_shrinkage(i));
  return log_sum(logs);
}

}  // namespace

std::optional<ShrunkenPosterior> ShrunkenPosterior::of(const Fit& fit, const doe::Model& model,
                                                       const std::vector<int>& whole_plots) {
  if (!fit.has_intercept() || !fit.sigma || *fit.sigma == 0) return std::nullopt;
  const Eigen::VectorXd roots =
      fit.weights.size() > 0 ? fit.weights.cwiseSqrt().eval() : Eigen::VectorXd::Ones(fit.n).eval();
  const double scale = coefficient_scale(fit, roots);
  const Eigen::MatrixXd d = roots.asDiagonal() * constant_and_blocks(fit.blocks, fit.n);
  const Eigen::MatrixXd x = roots.asDiagonal() * effect_columns(model, fit.coded);
  const Eigen::VectorXd z = roots.asDiagonal() * (fit.fitted + pseudo_residuals(fit, roots, scale));
  const auto df = static_cast<double>(fit.n - d.cols());
  if (x.cols() == 0 || df < 1) return std::nullopt;

  const std::vector<GivenErrors> given = given_errors(d, x, z, whole_plots);
  std::vector<double> log_weights;
  for (const GivenErrors& errors : given) {
    if (errors.s2.size() == 0) return std::nullopt;
    for (int i = 0; i < kGridPoints; ++i) log_weights.push_back(errors.log_weight(i, df));
  }
  const std::vector<double> cumulative = cumulative_of(log_weights);

  ShrunkenPosterior posterior;
  if (whole_plots.empty()) {
    posterior.log_marginal_likelihood_ = std::lgamma(df / 2) - df / 2 * std::log(std::numbers::pi) +
                                         roots.array().log().sum() + log_sum(log_weights) -
                                         log_sum_of_prior();
  }
  posterior.model_ = model;
  posterior.transform_ = fit.transform;
  posterior.df_ = std::max(1, fit.df_residual);
  posterior.variance_ = fit.variance;
  posterior.constants_.resize(kDraws);
  posterior.coefficients_.resize(x.cols(), kDraws);
  posterior.deviations_.resize(kDraws);
  PosteriorDraws random;
  for (int draw = 0; draw < kDraws; ++draw) {
    const auto drawn = static_cast<int>(random.index(cumulative));
    const GivenErrors& errors = given[static_cast<std::size_t>(drawn / kGridPoints)];
    const double variance = errors.variance(drawn % kGridPoints);
    const Eigen::ArrayXd spread = 1 + variance * errors.s2;
    const double deviation = std::sqrt(errors.sum_of_squares(variance) / random.chi_squared(df));
    const Eigen::ArrayXd mean = errors.along * errors.s2.sqrt() * variance / spread;
    const Eigen::ArrayXd error = deviation * (variance / spread).sqrt();
    // Directions that the runs do not determine keep the variance of the prior.
    const Eigen::VectorXd anywhere = deviation * std::sqrt(variance) * random.normals(x.cols());
    const Eigen::VectorXd determined =
        (mean + error * random.normals(mean.size()).array()).matrix() -
        errors.v.transpose() * anywhere;
    const Eigen::VectorXd coefficients = anywhere + errors.v * determined;
    posterior.coefficients_.col(draw) = coefficients;
    posterior.constants_[draw] = errors.at_centre +
                                 deviation * errors.error_at_centre * random.normal() -
                                 errors.centre.dot(coefficients);
    posterior.deviations_[draw] = deviation * errors.next * run_scale(fit, scale);
  }
  posterior.next_errors_ = random.normals(kDraws);
  return posterior;
}

Eigen::MatrixXd ShrunkenPosterior::means(const Eigen::MatrixXd& coded) const {
  return (effect_columns(model_, coded) * coefficients_).transpose().colwise() + constants_;
}

}  // namespace doetune::surfaces
