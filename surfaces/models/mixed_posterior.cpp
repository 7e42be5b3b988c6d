#include "surfaces/models/mixed_posterior.h"

#include <cmath>
#include <utility>

#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process_posterior.h"
#include "surfaces/models/shrunken_posterior.h"

namespace doetune::surfaces {

MixedPosterior::MixedPosterior(std::shared_ptr<const Posterior> first,
                               std::shared_ptr<const Posterior> second, double probability)
    : first_(std::move(first)), second_(std::move(second)) {
  transform_ = first_->transform_;
  df_ = first_->df_;
  deviations_.resize(kDraws);
  next_errors_.resize(kDraws);
  Eigen::Index firsts = 0;
  for (int draw = 0; draw < kDraws; ++draw) {  // in turns, so that any part of the draws is mixed
    const bool of_first = std::round((draw + 1) * probability) > static_cast<double>(firsts);
    const Eigen::Index row = of_first ? firsts++ : draw - firsts;
    const Posterior& part = of_first ? *first_ : *second_;
    of_first_.push_back(of_first);
    rows_.push_back(row);
    deviations_[draw] = part.deviations_[row];
    next_errors_[draw] = part.next_errors_[row];
  }
}

Eigen::MatrixXd MixedPosterior::means(const Eigen::MatrixXd& coded) const {
  const Eigen::MatrixXd first = first_->means(coded), second = second_->means(coded);
  Eigen::MatrixXd draws(kDraws, coded.rows());
  for (std::size_t draw = 0; draw < rows_.size(); ++draw) {
    draws.row(static_cast<Eigen::Index>(draw)) =
        (of_first_[draw] ? first : second).row(rows_[draw]);
  }
  return draws;
}

std::shared_ptr<const Posterior> posterior_with_polynomial(const GaussianProcess& process,
                                                           const doe::Model& polynomial,
                                                           int threads) {
  auto of_process = std::make_shared<const GaussianProcessPosterior>(process, threads);
  // The constant alone is determined by any runs; the posterior takes no more than these from it.
  const Fit constant =
      fit_least_squares(doe::Model::parse({"1"}, polynomial.factors()), process.coded,
                        process.observed, {.transform = process.transform});
  auto of_polynomial = ShrunkenPosterior::of(constant, polynomial);
  if (!of_polynomial) return of_process;
  const double log_odds =
      *of_polynomial->log_marginal_likelihood() - of_process->log_marginal_likelihood();
  return std::make_shared<const MixedPosterior>(
      std::move(of_process), std::make_shared<const ShrunkenPosterior>(*std::move(of_polynomial)),
      1 / (1 + std::exp(log_odds)));
}

}  // namespace doetune::surfaces
