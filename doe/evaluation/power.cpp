#include "doe/evaluation/power.h"

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/non_central_f.hpp>

namespace doetune::doe {
namespace {

// Boost 1.74 is wrong at lambda = 0, where the power is alpha, and counts terms up to lambda / 2 in
// an int.
constexpr double kNoLambda = 1e-12;
constexpr double kMaxLambda = 1e9;

double power(int columns, int error_runs, double lambda, double alpha) {
  if (lambda < kNoLambda) return alpha;
  const boost::math::fisher_f central(columns, error_runs);
  const double critical = quantile(complement(central, alpha));
  // A non-rejection would need an error estimate so large that the power is 1 to nine digits.
  const double certain = critical * columns * (10 + 400.0 / error_runs) + 200;
  if (lambda > std::min(certain, kMaxLambda)) return 1;
  return cdf(complement(boost::math::non_central_f(columns, error_runs, lambda), critical));
}

}  // namespace

std::vector<TermPower> term_powers(const Model& model, int runs, const Eigen::MatrixXd& inverse,
                                   double effect, double alpha) {
  const std::vector<std::string> names = model.term_names();
  std::vector<TermPower> powers;
  for (std::size_t t = 0; t < names.size(); ++t) {
    if (model.terms()[t].order() == 0) continue;
    std::vector<int> columns;
    for (int c = 0; c < model.column_count(); ++c) {
      if (model.columns()[c].term == static_cast<int>(t)) columns.push_back(c);
    }
    TermPower& found = powers.emplace_back(TermPower{names[t], std::nullopt});
    const int error_runs = runs - model.column_count();
    if (error_runs < 1) continue;
    const Eigen::MatrixXd v = inverse(columns, columns);
    Eigen::VectorXd b = Eigen::VectorXd::Constant(v.rows(), effect);
    for (Eigen::Index i = 1; i < b.size(); i += 2) b[i] = -effect;
    const double lambda = b.dot(v.ldlt().solve(b));
    found.power = power(static_cast<int>(columns.size()), error_runs, lambda, alpha);
  }
  return powers;
}

}  // namespace doetune::doe
