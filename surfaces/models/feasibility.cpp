#include "surfaces/models/feasibility.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "doe/evaluation.h"
#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

double logistic(double eta) { return 1 / (1 + std::exp(-eta)); }

/// ln(1 + exp(eta)) without overflow.
double softplus(double eta) { return std::max(eta, 0.0) + std::log1p(std::exp(-std::abs(eta))); }

/// The penalised likelihood at given coefficients, and a Fisher scoring step from there.
struct Firth {
  double penalised_log_likelihood = 0;
  Eigen::MatrixXd covariance;  ///< (X'WX)^-1
  Eigen::VectorXd step;

  Firth(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::VectorXd& beta) {
    const Eigen::VectorXd eta = x * beta;
    const Eigen::VectorXd p = eta.unaryExpr(&logistic);
    // exp(-|eta| / 2) / (1 + exp(-|eta|)): no cancellation where p is close to 1.
    const Eigen::VectorXd roots =
        eta.unaryExpr([](double e) { return std::exp(-std::abs(e) / 2) * logistic(std::abs(e)); });
    const Eigen::HouseholderQR<Eigen::MatrixXd> qr(roots.asDiagonal() * x);
    const Eigen::MatrixXd r = qr.matrixQR().topRows(x.cols()).triangularView<Eigen::Upper>();
    penalised_log_likelihood =
        y.dot(eta) - eta.unaryExpr(&softplus).sum() + r.diagonal().array().abs().log().sum();
    const Eigen::MatrixXd root =
        r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
    covariance = root * root.transpose();
    const Eigen::VectorXd leverage = (roots.asDiagonal() * x * root).rowwise().squaredNorm();
    const Eigen::VectorXd residual = (y - p).array() + leverage.array() * (0.5 - p.array());
    step = covariance * (x.transpose() * residual);
  }
};

/// Fisher scoring with steps of at most 5 in any coefficient, halved while the likelihood decreases
/// by more than rounding.
Eigen::VectorXd scored(const Eigen::MatrixXd& x, const Eigen::VectorXd& y) {
  constexpr double kSmallest = 1e-11;
  Eigen::VectorXd beta = Eigen::VectorXd::Zero(x.cols());
  Firth here(x, y, beta);
  for (int iteration = 0; iteration < 500; ++iteration) {
    const double least =
        here.penalised_log_likelihood - 1e-13 * (1 + std::abs(here.penalised_log_likelihood));
    Eigen::VectorXd step = here.step * std::min(1.0, 5 / here.step.cwiseAbs().maxCoeff());
    Firth there(x, y, beta + step);
    while (!(there.penalised_log_likelihood >= least) && step.cwiseAbs().maxCoeff() > kSmallest) {
      step /= 2;
      there = Firth(x, y, beta + step);
    }
    beta += step;
    if (step.cwiseAbs().maxCoeff() <= kSmallest) break;
    here = std::move(there);
  }
  return beta;
}

bool determines(const doe::Model& model, const Eigen::MatrixXd& coded) {
  return coded.rows() >= model.column_count() && doe::evaluate(model, coded).aliases.empty();
}

/// The linear model of the factors that the runs determine; the others are added to `undetermined`.
doe::Model linear_model(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                        std::vector<std::string>& undetermined) {
  std::vector<std::string> terms{"1"};
  for (const doe::Factor& factor : factors) {
    terms.push_back(factor.name);
    if (determines(doe::Model::parse(terms, factors), coded)) continue;
    terms.pop_back();
    undetermined.push_back(factor.name);
  }
  return doe::Model::parse(terms, factors);
}

std::string verdict(int completed, int infeasible) {
  if (infeasible == 0) {
    return fmt::format("all {} runs completed: they show no limit to what can be run", completed);
  }
  if (completed == 0) {
    return fmt::format("none of {} runs completed: run settings that are known to work",
                       infeasible);
  }
  return fmt::format("{} of {} runs completed", completed, completed + infeasible);
}

Coefficient tested(const std::string& term, double estimate, double variance) {
  Coefficient row{term, estimate, std::sqrt(variance), {}, {}, {}};
  row.t = row.estimate / *row.std_error;
  row.p = t_p_value(*row.t, std::numeric_limits<double>::infinity());
  return row;
}

}  // namespace

Feasibility fit_feasibility(const doe::Model& model, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed) {
  if (completed.empty()) throw FitError("no run shows what can be run");
  if (!determines(model, coded)) {
    throw FitError(
        fmt::format("{} runs do not determine the {} terms of the feasibility model{}",
                    coded.rows(), model.column_count(),
                    coded.rows() < model.column_count()
                        ? std::string()
                        : fmt::format(": {} aliased with other terms",
                                      fmt::join(doe::evaluate(model, coded).aliases, ", "))));
  }
  const Eigen::MatrixXd x = model.matrix(coded);
  Eigen::VectorXd y(x.rows());
  std::copy(completed.begin(), completed.end(), y.begin());

  Feasibility fit;
  fit.model = model;
  fit.completed = static_cast<int>(std::count(completed.begin(), completed.end(), true));
  fit.infeasible = static_cast<int>(completed.size()) - fit.completed;
  fit.beta = scored(x, y);
  const Firth at_maximum(x, y, fit.beta);
  fit.covariance = at_maximum.covariance;
  fit.penalised_log_likelihood = at_maximum.penalised_log_likelihood;
  for (int c = 0; c < model.column_count(); ++c) {
    fit.coefficients.push_back(tested(model.columns()[c].name, fit.beta[c], fit.covariance(c, c)));
  }
  fit.note = verdict(fit.completed, fit.infeasible);
  return fit;
}

Feasibility fit_feasibility(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                            const std::vector<bool>& completed) {
  const auto count = std::count(completed.begin(), completed.end(), true);
  const auto rarer = std::min<long>(count, static_cast<long>(completed.size()) - count);
  if (rarer == 0) return fit_feasibility(doe::Model::parse({"1"}, factors), coded, completed);
  const doe::Model interactions = doe::Model::named("interactions", factors);
  if (rarer >= interactions.column_count() && determines(interactions, coded)) {
    return fit_feasibility(interactions, coded, completed);
  }
  std::vector<std::string> undetermined;
  const doe::Model linear = linear_model(factors, coded, undetermined);
  Feasibility fit = fit_feasibility(linear, coded, completed);
  if (!undetermined.empty()) {
    fit.note += fmt::format("; they say nothing about {}", fmt::join(undetermined, ", "));
  }
  return fit;
}

double Feasibility::probability(const Eigen::Ref<const Eigen::VectorXd>& coded_point) const {
  return logistic(model.row(coded_point).dot(beta));
}

Interval Feasibility::interval(const Eigen::Ref<const Eigen::VectorXd>& coded_point,
                               double level) const {
  const Eigen::RowVectorXd row = model.row(coded_point);
  const double half_width = normal_quantile(level) * std::sqrt((row * covariance).dot(row));
  return {logistic(row.dot(beta) - half_width), logistic(row.dot(beta) + half_width)};
}

}  // namespace doetune::surfaces
