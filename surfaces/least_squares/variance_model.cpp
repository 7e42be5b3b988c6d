#include "surfaces/variance_model.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <map>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"

namespace doetune::surfaces {
namespace {

Eigen::MatrixXd points_of(const std::vector<GroupVariance>& groups) {
  Eigen::MatrixXd coded(groups.size(), groups.empty() ? 0 : groups[0].coded.size());
  for (Eigen::Index g = 0; g < coded.rows(); ++g) {
    coded.row(g) = groups[static_cast<std::size_t>(g)].coded.transpose();
  }
  return coded;
}

/// The columns of a model, followed by those of `besides`.
Eigen::MatrixXd columns(const doe::Model& model, const Eigen::MatrixXd& coded,
                        const Eigen::MatrixXd& besides) {
  const Eigen::MatrixXd own = model.matrix(coded);
  Eigen::MatrixXd all(own.rows(), own.cols() + besides.cols());
  all << own, besides;
  return all;
}

/// The intercept and the factors that vary between groups, as many as the groups determine.
doe::Model log_linear(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                      const Eigen::MatrixXd& besides) {
  std::vector<doe::Term> terms{{std::vector<int>(factors.size(), 0)}};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    std::vector<doe::Term> more = terms;
    more.push_back({std::vector<int>(factors.size(), 0)});
    more.back().powers[f] = 1;
    const Eigen::MatrixXd x = columns({factors, more}, coded, besides);
    if (x.rows() >= x.cols() && x.colPivHouseholderQr().rank() == x.cols()) terms = more;
  }
  return {factors, terms};
}

bool any_varies(const std::vector<GroupVariance>& groups) {
  return std::any_of(groups.begin(), groups.end(),
                     [](const GroupVariance& group) { return group.variance > 0; });
}

/// The gamma regression of group variances with log link.
class Regression {
 public:
  Regression(Eigen::MatrixXd x, const std::vector<GroupVariance>& groups)
      : x_(std::move(x)), half_df_(x_.rows()) {
    for (Eigen::Index g = 0; g < half_df_.size(); ++g) {
      half_df_[g] = groups[static_cast<std::size_t>(g)].df / 2.0;
    }
    information_.compute(x_.transpose() * half_df_.asDiagonal() * x_);
  }

  const Eigen::VectorXd& half_df() const { return half_df_; }

  Eigen::MatrixXd inverse_information() const {
    return information_.solve(Eigen::MatrixXd::Identity(x_.cols(), x_.cols()));
  }

  double log_likelihood(const Eigen::VectorXd& variances, const Eigen::VectorXd& g) const {
    const Eigen::ArrayXd eta = (x_ * g).array();
    return -(half_df_.array() * (eta + variances.array() * (-eta).exp())).sum();
  }

  /// Fisher scoring from the pooled variance, halving steps that do not improve.
  Eigen::VectorXd estimate(const Eigen::VectorXd& variances) const {
    Eigen::VectorXd g = Eigen::VectorXd::Zero(x_.cols());
    g[0] = std::log(half_df_.dot(variances) / half_df_.sum());
    constexpr double kRounding = 1e-13;
    double value = log_likelihood(variances, g);
    for (int iteration = 0; iteration < 100; ++iteration) {
      const Eigen::ArrayXd ratio = variances.array() * (-(x_ * g).array()).exp();
      Eigen::VectorXd step =
          information_.solve(x_.transpose() * (half_df_.array() * (ratio - 1)).matrix());
      double next = log_likelihood(variances, g + step);
      while (!(next >= value - kRounding * std::abs(value)) && step.norm() > 1e-12) {
        step /= 2;
        next = log_likelihood(variances, g + step);
      }
      g += step;
      value = next;
      if (step.norm() < 1e-11) break;
    }
    return g;
  }

  /// The statistic 2 (l1 - l0) against a constant variance.
  double likelihood_ratio(const Eigen::VectorXd& variances) const {
    Eigen::VectorXd constant = Eigen::VectorXd::Zero(x_.cols());
    constant[0] = std::log(half_df_.dot(variances) / half_df_.sum());
    const double ratio =
        log_likelihood(variances, estimate(variances)) - log_likelihood(variances, constant);
    return std::max(0.0, 2 * ratio);
  }

 private:
  Eigen::MatrixXd x_;
  Eigen::VectorXd half_df_;
  Eigen::LDLT<Eigen::MatrixXd> information_;
};

Eigen::VectorXd variances_of(const std::vector<GroupVariance>& groups) {
  Eigen::VectorXd variances(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    variances[static_cast<Eigen::Index>(g)] = groups[g].variance;
  }
  if (groups.empty() || variances.maxCoeff() <= 0) {
    throw FitError(
        "the variance cannot be modelled: no point was run more than once with different "
        "results; replicate some runs");
  }
  return variances;
}

void add_bartlett(const Eigen::VectorXd& variances, const Eigen::VectorXd& df,
                  ConstancyTest& test) {
  const auto groups = static_cast<double>(variances.size());
  if (groups < 2 || variances.minCoeff() <= 0) return;
  const double pooled = df.dot(variances) / df.sum();
  const double statistic = -df.dot((variances.array() / pooled).log().matrix());
  const double correction = 1 + (df.cwiseInverse().sum() - 1 / df.sum()) / (3 * (groups - 1));
  test.bartlett = std::max(0.0, statistic / correction);  // 0 for equal variances, up to rounding
  test.bartlett_p = boost::math::cdf(
      boost::math::complement(boost::math::chi_squared(groups - 1), *test.bartlett));
}

}  // namespace

std::vector<GroupVariance> replicate_variances(const Eigen::MatrixXd& coded,
                                               const Eigen::VectorXd& z,
                                               const std::vector<int>& blocks) {
  std::map<std::vector<double>, std::vector<Eigen::Index>> runs_at;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const Eigen::RowVectorXd point = coded.row(i);
    std::vector<double> key(point.begin(), point.end());
    if (!blocks.empty()) key.push_back(blocks[static_cast<std::size_t>(i)]);
    runs_at[key].push_back(i);
  }
  std::vector<GroupVariance> groups;
  for (const auto& [point, runs] : runs_at) {
    if (runs.size() < 2) continue;
    const Eigen::ArrayXd values = z(runs);
    const int df = static_cast<int>(runs.size()) - 1;
    groups.push_back(
        {coded.row(runs[0]).transpose(), (values - values.mean()).square().sum() / df, df});
  }
  return groups;
}

double VarianceModel::variance(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
  return std::exp(model.row(coded).dot(coefficients));
}

VarianceModel fit_variance_model(const std::vector<doe::Factor>& factors,
                                 const std::vector<GroupVariance>& groups,
                                 const std::vector<GroupVariance>& repeats) {
  // Without a positive variance they have no level, and there is no second level to separate.
  std::vector<GroupVariance> all = any_varies(groups) ? groups : std::vector<GroupVariance>{};
  const auto runs = static_cast<Eigen::Index>(all.size());
  if (any_varies(repeats)) all.insert(all.end(), repeats.begin(), repeats.end());
  const Eigen::VectorXd variances = variances_of(all);
  const Eigen::MatrixXd coded = points_of(all);
  const bool both = runs > 0 && runs < coded.rows();
  Eigen::MatrixXd is_repeat = Eigen::MatrixXd::Zero(coded.rows(), both ? 1 : 0);
  is_repeat.bottomRows(coded.rows() - runs).setOnes();
  VarianceModel model{log_linear(factors, coded, is_repeat), {}, {}};
  const Regression regression(columns(model.model, coded, is_repeat), all);
  const int terms = model.model.column_count();
  model.coefficients = regression.estimate(variances).head(terms);
  model.standard_errors = regression.inverse_information().diagonal().cwiseSqrt().head(terms);
  return model;
}

std::optional<ConstancyTest> test_constancy(const std::vector<doe::Factor>& factors,
                                            const std::vector<GroupVariance>& groups,
                                            std::uint64_t seed, int simulations) {
  if (!any_varies(groups)) return std::nullopt;
  const Eigen::VectorXd variances = variances_of(groups);
  const Eigen::MatrixXd coded = points_of(groups);
  const doe::Model model = log_linear(factors, coded, Eigen::MatrixXd(coded.rows(), 0));
  if (model.column_count() == 1) return std::nullopt;
  const Regression regression(model.matrix(coded), groups);
  ConstancyTest test;
  test.df = model.column_count() - 1;
  test.likelihood_ratio = regression.likelihood_ratio(variances);
  int as_high = 0;
  for (int s = 0; s < simulations; ++s) {
    RandomStream random(seed, static_cast<std::uint64_t>(s));
    Eigen::VectorXd simulated(variances.size());
    for (Eigen::Index g = 0; g < simulated.size(); ++g) {
      const double half = regression.half_df()[g];
      simulated[g] = boost::math::gamma_p_inv(half, random.uniform()) / half;
    }
    as_high += regression.likelihood_ratio(simulated) >= test.likelihood_ratio;
  }
  test.p = (as_high + 1.0) / (simulations + 1.0);
  add_bartlett(variances, 2 * regression.half_df(), test);
  return test;
}

}  // namespace doetune::surfaces
