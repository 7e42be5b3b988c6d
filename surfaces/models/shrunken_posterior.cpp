#include "surfaces/models/shrunken_posterior.h"

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <boost/random/chi_squared_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "surfaces/distributions.h"
#include "surfaces/quantiles.h"

namespace doetune::surfaces {
namespace {

constexpr std::uint64_t kPosteriorSeed = 91;
constexpr double kNegligible = 1e-10;  // singular values below this fraction of the largest
// The grid of v mean(S^2): 12 points per power of ten.
constexpr int kGridPoints = 169, kPerDecade = 12;
constexpr double kLowest = 1e-4;

/// 1 and sum-to-zero contrasts of the blocks.
Eigen::MatrixXd constant_and_blocks(const std::vector<int>& blocks, Eigen::Index n) {
  std::map<int, Eigen::Index> numbers;
  for (const int block : blocks) numbers.emplace(block, 0);
  Eigen::Index count = 0;
  for (auto& [block, number] : numbers) number = count++;
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(n, std::max<Eigen::Index>(1, count));
  columns.col(0).setOnes();
  for (Eigen::Index i = 0; count > 1 && i < n; ++i) {
    const Eigen::Index number = numbers.at(blocks[static_cast<std::size_t>(i)]);
    if (number + 1 < count) {
      columns(i, 1 + number) = 1;
    } else {
      columns.row(i).tail(count - 1).setConstant(-1);
    }
  }
  return columns;
}

/// The columns of the model besides 1.
Eigen::MatrixXd columns_of(const doe::Model& model, const Eigen::MatrixXd& coded) {
  const Eigen::MatrixXd all = model.matrix(coded);
  std::vector<Eigen::Index> kept;
  for (int c = 0; c < model.column_count(); ++c) {
    const doe::Term& term = model.terms()[static_cast<std::size_t>(model.columns()[c].term)];
    if (term.order() > 0) kept.push_back(c);
  }
  return all(Eigen::all, kept);
}

/// The same numbers at every call. Tables for normal numbers are many times faster than quantiles.
class Draws {
 public:
  double uniform() { return boost::random::uniform_01<>()(engine_); }
  double normal() { return normal_(engine_); }
  Eigen::VectorXd normals(Eigen::Index count) {
    return Eigen::VectorXd::NullaryExpr(count, [this] { return normal(); });
  }
  double chi_squared(double df) { return boost::random::chi_squared_distribution<>(df)(engine_); }

 private:
  boost::random::mt19937_64 engine_{kPosteriorSeed};
  boost::random::normal_distribution<> normal_;
};

/// The index drawn from unnormalised log probabilities by a uniform number.
std::size_t drawn_index(const std::vector<double>& cumulative, double uniform) {
  const auto at =
      std::lower_bound(cumulative.begin(), cumulative.end(), uniform * cumulative.back());
  return std::min(static_cast<std::size_t>(at - cumulative.begin()), cumulative.size() - 1);
}

Interval central(const Eigen::VectorXd& draws, double level) {
  return central_interval({draws.begin(), draws.end()}, level);
}

}  // namespace

std::optional<ShrunkenPosterior> ShrunkenPosterior::of(const Fit& fit, const doe::Model& model) {
  if (fit.split_plot || fit.loss != Loss::kSquares || !fit.has_intercept()) return std::nullopt;
  if (!fit.sigma || *fit.sigma == 0) return std::nullopt;
  const Eigen::VectorXd roots =
      fit.weights.size() > 0 ? fit.weights.cwiseSqrt().eval() : Eigen::VectorXd::Ones(fit.n).eval();
  const Eigen::MatrixXd d = roots.asDiagonal() * constant_and_blocks(fit.blocks, fit.n);
  const Eigen::MatrixXd x = roots.asDiagonal() * columns_of(model, fit.coded);
  const Eigen::VectorXd z = roots.asDiagonal() * (fit.fitted + fit.residuals);
  const auto df = static_cast<double>(fit.n - d.cols());
  if (x.cols() == 0 || df < 1) return std::nullopt;

  // Frisch & Waugh: what D explains is taken out of X and z.
  const Eigen::MatrixXd of_d = (d.transpose() * d).ldlt().solve(d.transpose());
  const Eigen::MatrixXd from_d = of_d * x;
  const Eigen::MatrixXd centred = x - d * from_d;
  const Eigen::VectorXd rest = z - d * (of_d * z);
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(centred, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& all = svd.singularValues();
  const Eigen::Index r = (all.array() > kNegligible * all[0]).count();
  if (r == 0) return std::nullopt;
  const Eigen::ArrayXd s2 = all.head(r).array().square();
  const Eigen::MatrixXd v = svd.matrixV().leftCols(r);
  const Eigen::ArrayXd along = (svd.matrixU().leftCols(r).transpose() * rest).array();
  const double unexplained = std::max(0.0, rest.squaredNorm() - along.square().sum());

  // The marginal posterior of v on a grid, even in its logarithm.
  std::vector<double> variances(kGridPoints), log_weights(kGridPoints), cumulative(kGridPoints);
  for (int i = 0; i < kGridPoints; ++i) {
    const double u = kLowest * std::pow(10.0, static_cast<double>(i) / kPerDecade);
    variances[i] = u / s2.mean();
    const Eigen::ArrayXd spread = 1 + variances[i] * s2;
    const double squares = unexplained + (along.square() / spread).sum();
    log_weights[i] =
        std::log(u) - 1.5 * std::log1p(u) - spread.log().sum() / 2 - df / 2 * std::log(squares);
  }
  const double highest = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0;
  for (int i = 0; i < kGridPoints; ++i) cumulative[i] = sum += std::exp(log_weights[i] - highest);

  ShrunkenPosterior posterior;
  posterior.model_ = model;
  posterior.transform_ = fit.transform;
  posterior.df_ = std::max(1, fit.df_residual);
  posterior.variance_ = fit.variance;
  posterior.centre_ = from_d.row(0);
  posterior.constants_.resize(kDraws);
  posterior.coefficients_.resize(x.cols(), kDraws);
  posterior.deviations_.resize(kDraws);
  const double at_centre = of_d.row(0).dot(z), error_at_centre = of_d.row(0).norm();
  Draws random;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double variance = variances[drawn_index(cumulative, random.uniform())];
    const Eigen::ArrayXd spread = 1 + variance * s2;
    const double squares = unexplained + (along.square() / spread).sum();
    const double deviation = std::sqrt(squares / random.chi_squared(df));
    const Eigen::ArrayXd mean = along * s2.sqrt() * variance / spread;
    const Eigen::ArrayXd error = deviation * (variance / spread).sqrt();
    // Directions that the runs do not determine keep the variance of the prior.
    const Eigen::VectorXd anywhere = deviation * std::sqrt(variance) * random.normals(x.cols());
    const Eigen::VectorXd determined =
        (mean + error * random.normals(r).array()).matrix() - v.transpose() * anywhere;
    posterior.coefficients_.col(draw) = anywhere + v * determined;
    posterior.constants_[draw] = at_centre + deviation * error_at_centre * random.normal();
    posterior.deviations_[draw] = deviation;
  }
  posterior.next_errors_ = random.normals(kDraws);
  return posterior;
}

Eigen::MatrixXd ShrunkenPosterior::means(const Eigen::MatrixXd& coded) const {
  const Eigen::MatrixXd rows = columns_of(model_, coded).rowwise() - centre_;
  return (rows * coefficients_).transpose().colwise() + constants_;
}

Prediction ShrunkenPosterior::predict(const Eigen::VectorXd& coded) const {
  constexpr double kLevel = 0.95;
  const Eigen::VectorXd draws = means(coded.transpose());
  const double relative = variance_ ? std::sqrt(variance_->variance(coded)) : 1;
  const Eigen::VectorXd next = draws + relative * deviations_.cwiseProduct(next_errors_);
  const Interval of_mean = central(draws, kLevel), of_next = central(next, kLevel);
  const double t = t_quantile(kLevel, df_);
  Prediction prediction;
  prediction.mean = (of_mean.low + of_mean.high) / 2;
  prediction.standard_error = (of_mean.high - of_mean.low) / 2 / t;
  const double half = (of_next.high - of_next.low) / 2 / t;
  prediction.sigma = std::sqrt(std::max(0.0, half * half - std::pow(prediction.standard_error, 2)));
  prediction.df = df_;
  prediction.transform = transform_;
  return prediction;
}

}  // namespace doetune::surfaces
