#include "surfaces/least_squares/whole_plots.h"

#include <Eigen/Dense>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

namespace doetune::surfaces {

WholePlots::WholePlots(const std::vector<int>& numbers)
    : runs_(static_cast<Eigen::Index>(numbers.size())) {
  std::map<int, std::vector<Eigen::Index>> plots;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    plots[numbers[i]].push_back(static_cast<Eigen::Index>(i));
  }
  for (auto& [number, runs] : plots) plots_.push_back(std::move(runs));
}

Eigen::VectorXd WholePlots::sizes() const {
  Eigen::VectorXd sizes(count());
  for (Eigen::Index j = 0; j < sizes.size(); ++j) {
    sizes[j] = static_cast<double>(plots_[j].size());
  }
  return sizes;
}

Eigen::VectorXd WholePlots::scales(double d) const { return (1 + d * sizes().array()).inverse(); }

double WholePlots::log_determinant(double d) const { return (d * sizes().array()).log1p().sum(); }

Eigen::MatrixXd WholePlots::membership() const {
  Eigen::MatrixXd z = Eigen::MatrixXd::Zero(runs_, count());
  for (Eigen::Index j = 0; j < z.cols(); ++j) z(plots_[j], j).setOnes();
  return z;
}

Eigen::MatrixXd WholePlots::whitened(Eigen::MatrixXd x, double d) const {
  for (const std::vector<Eigen::Index>& runs : plots_) {
    const double scale = 1 / (1 + static_cast<double>(runs.size()) * d);
    const Eigen::RowVectorXd less = (1 - std::sqrt(scale)) * x(runs, Eigen::all).colwise().mean();
    for (const Eigen::Index run : runs) x.row(run) -= less;
  }
  return x;
}

Eigen::MatrixXd WholePlots::totals(const Eigen::MatrixXd& x) const {
  Eigen::MatrixXd totals(count(), x.cols());
  for (Eigen::Index j = 0; j < totals.rows(); ++j) {
    totals.row(j) = x(plots_[j], Eigen::all).colwise().sum();
  }
  return totals;
}

WholePlots::Deviance WholePlots::deviance(const Eigen::MatrixXd& x, const Eigen::VectorXd& z,
                                          double d, Likelihood likelihood) const {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(whitened(x, d));
  const Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(x.rows(), x.cols());
  const Eigen::VectorXd white = whitened(z, d);
  const Eigen::VectorXd residuals = white - q * (q.transpose() * white);
  const double rss = residuals.squaredNorm();
  const Eigen::VectorXd s2 = scales(d);
  const double of_plots = s2.dot(totals(residuals).rowwise().squaredNorm());  // |Z'P z|^2
  double trace = s2.dot(sizes());
  double n = static_cast<double>(x.rows());
  Deviance result{log_determinant(d), 0};
  if (likelihood == Likelihood::kFull) {
    result.value += n * std::log(2 * std::numbers::pi / n) + n;
  } else {
    n -= static_cast<double>(x.cols());
    trace -= s2.dot(totals(q).rowwise().squaredNorm());
    result.value += 2 * qr.matrixQR().diagonal().array().abs().log().sum();
  }
  result.value += n * std::log(rss);
  result.slope = trace - n * of_plots / rss;
  return result;
}

double WholePlots::likeliest_ratio(const Eigen::MatrixXd& x, const Eigen::VectorXd& z,
                                   Likelihood likelihood) const {
  // The deviance may have several minima: all that this scan brackets are considered.
  constexpr double kFirst = 1e-4, kLast = 1e8, kStep = 10;
  const auto slope = [&](double d) { return deviance(x, z, d, likelihood).slope; };
  double best = std::numeric_limits<double>::infinity();
  double lowest = best;
  const auto consider = [&](double d) {
    const double value = deviance(x, z, d, likelihood).value;
    if (value < lowest) lowest = value, best = d;
  };
  double low = 0, at_low = slope(0);
  if (at_low >= 0) consider(0);
  for (double high = kFirst; high < kLast; high *= kStep) {
    const double at_high = slope(high);
    if (at_low < 0 && at_high >= 0) {
      std::uintmax_t calls = 100;
      const auto [left, right] = boost::math::tools::toms748_solve(
          slope, low, high, at_low, at_high, boost::math::tools::eps_tolerance<double>(44), calls);
      consider((left + right) / 2);
    }
    low = high;
    at_low = at_high;
  }
  return best;
}

}  // namespace doetune::surfaces
