#include "surfaces/models/parametric_posterior.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>
#include <utility>

#include "surfaces/models/parametric_search.h"
#include "surfaces/models/posterior_draws.h"

namespace doetune::surfaces {
namespace {

constexpr int kFirstMoves = 500, kMovesPerDraw = 10;
constexpr double kRelativeRidge = 1e-8;  // relative, of directions that the runs hardly determine

/// A chain of the parameters of one level, given the deviation of runs.
class Chain {
 public:
  Chain(ParametricRuns runs, Eigen::VectorXd start)
      : runs_(std::move(runs)), at_(look(std::move(start))) {
    const Eigen::MatrixXd products = at_.jacobian.transpose() * at_.jacobian;
    const Eigen::VectorXd norms =
        products.diagonal().cwiseSqrt().cwiseMax(std::numeric_limits<double>::min());
    const Eigen::MatrixXd scaled =
        norms.cwiseInverse().asDiagonal() * products * norms.cwiseInverse().asDiagonal();
    const auto p = products.rows();
    const Eigen::LLT<Eigen::MatrixXd> root(scaled +
                                           kRelativeRidge * Eigen::MatrixXd::Identity(p, p));
    step_ = norms.cwiseInverse().asDiagonal() *
            root.matrixU().solve(Eigen::MatrixXd::Identity(p, p)).eval();
  }

  /// Steps of the size of the linear errors, some much shorter or longer.
  void move(double deviation, PosteriorDraws& random) {
    const auto p = at_.parameters.size();
    const double size = 2.4 / std::sqrt(static_cast<double>(p)) * std::exp(random.normal());
    Place next = look(at_.parameters + deviation * size * (step_ * random.normals(p)));
    const double ratio = log_density(next, deviation) - log_density(at_, deviation);
    if (std::log(1 - random.uniform()) < ratio) at_ = std::move(next);
  }

  const Eigen::VectorXd& parameters() const { return at_.parameters; }
  double sum_of_squares() const { return at_.sum_of_squares; }

 private:
  struct Place {
    Eigen::VectorXd parameters;
    Eigen::MatrixXd jacobian;
    double sum_of_squares = std::numeric_limits<double>::infinity();
    double log_prior = -std::numeric_limits<double>::infinity();
  };

  /// Of density 0 outside the ranges of the parameters, and where the transform is not defined.
  Place look(Eigen::VectorXd parameters) const {
    Place place{std::move(parameters), Eigen::MatrixXd(runs_.x.size(), 0)};
    const Eigen::VectorXd& theta = place.parameters;
    for (Eigen::Index j = 0; j < theta.size(); ++j) {
      const ModelParameter& parameter = runs_.model.parameters[static_cast<std::size_t>(j)];
      if (theta[j] < parameter.low || theta[j] > parameter.high) return place;
    }
    place.jacobian.resize(runs_.x.size(), theta.size());
    double sum = 0;
    Eigen::VectorXd gradient;
    for (Eigen::Index i = 0; i < runs_.x.size(); ++i) {
      const double z = model_on_scale(runs_.model, runs_.transform, runs_.x[i], theta, &gradient);
      if (!std::isfinite(z) || !gradient.allFinite()) return place;
      sum += std::pow(z - runs_.z[i], 2);
      place.jacobian.row(i) = gradient;
    }
    place.sum_of_squares = sum;
    const double determinant = (place.jacobian.transpose() * place.jacobian).determinant();
    if (determinant > 0) place.log_prior = std::log(determinant) / 2;
    return place;
  }

  static double log_density(const Place& place, double deviation) {
    return place.log_prior - place.sum_of_squares / (2 * deviation * deviation);
  }

  ParametricRuns runs_;
  Place at_;
  Eigen::MatrixXd step_;  ///< p x p: root of the linear covariance for a deviation of 1
};

int level_at(const std::optional<int>& by, const Eigen::Ref<const Eigen::VectorXd>& coded) {
  return by ? static_cast<int>(std::lround(coded[*by])) : 0;
}

std::vector<Chain> chains_of(const ParametricFit& fit, const Eigen::MatrixXd& coded) {
  const Eigen::VectorXd z = fit.fitted + fit.residuals;
  std::vector<Chain> chains;
  for (Eigen::Index level = 0; level < fit.parameters.cols(); ++level) {
    std::vector<Eigen::Index> runs;
    for (Eigen::Index i = 0; i < coded.rows(); ++i) {
      if (level_at(fit.by, coded.row(i).transpose()) == level) runs.push_back(i);
    }
    const Eigen::VectorXd x = coded(runs, fit.factor).unaryExpr([&](double setting) {
      return fit.factors[static_cast<std::size_t>(fit.factor)].to_natural(setting);
    });
    chains.emplace_back(ParametricRuns{fit.model, fit.transform, x, z(runs)},
                        fit.parameters.col(level));
  }
  return chains;
}

}  // namespace

std::optional<ParametricPosterior> ParametricPosterior::of(const ParametricFit& fit,
                                                           const Eigen::MatrixXd& coded) {
  if (!fit.sigma || *fit.sigma == 0) return std::nullopt;
  std::vector<Chain> chains = chains_of(fit, coded);
  ParametricPosterior posterior;
  posterior.model_ = fit.model;
  posterior.factor_ = fit.factors[static_cast<std::size_t>(fit.factor)];
  posterior.at_ = fit.factor;
  posterior.by_ = fit.by;
  posterior.transform_ = fit.transform;
  posterior.df_ = fit.df_residual;
  posterior.deviations_.resize(kDraws);
  posterior.parameters_.assign(chains.size(), Eigen::MatrixXd(fit.parameters.rows(), kDraws));
  PosteriorDraws random;
  double deviation = *fit.sigma;
  for (int step = -kFirstMoves; step < kDraws * kMovesPerDraw; ++step) {
    double sum = 0;
    for (Chain& chain : chains) {
      chain.move(deviation, random);
      sum += chain.sum_of_squares();
    }
    deviation = std::sqrt(sum / random.chi_squared(fit.n));
    if (step < 0 || step % kMovesPerDraw > 0) continue;
    const int draw = step / kMovesPerDraw;
    posterior.deviations_[draw] = deviation;
    for (std::size_t level = 0; level < chains.size(); ++level) {
      posterior.parameters_[level].col(draw) = chains[level].parameters();
    }
  }
  posterior.next_errors_ = random.normals(kDraws);
  return posterior;
}

Eigen::MatrixXd ParametricPosterior::means(const Eigen::MatrixXd& coded) const {
  Eigen::MatrixXd draws(kDraws, coded.rows());
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const double x = factor_.to_natural(coded(i, at_));
    const auto level = static_cast<std::size_t>(level_at(by_, coded.row(i).transpose()));
    for (int draw = 0; draw < kDraws; ++draw) {
      const double y = model_.value(x, parameters_[level].col(draw), nullptr);
      draws(draw, i) = transformed_or_end(transform_, y);
    }
  }
  return draws;
}

}  // namespace doetune::surfaces
