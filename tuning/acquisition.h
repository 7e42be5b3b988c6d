// What a run is worth: the acquisition function of a search.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "tuning/hypervolume.h"
#include "tuning/surrogate_models.h"
#include "tuning/utility.h"

namespace doetune::tuning {

/// The best of the settings that were run, in each draw of the models' parameters.
struct Incumbent {
  Eigen::RowVectorXd utility;      ///< the highest, or the volume of the front
  std::vector<Front> fronts = {};  ///< Problem::front only
};

/// What the models predict at some points, and what runs there are worth: see next_runs.
class Acquisition {
 public:
  Acquisition(const Problem& problem, const SurrogateModels& models, const Utility& utility,
              const Eigen::MatrixXd& coded, Draws draws);

  /// The probabilities that a run completes, and that the means meet all limits, at each point.
  const Eigen::VectorXd& completes() const { return completes_; }
  const Eigen::VectorXd& meets_limits() const { return meets_limits_; }

  /// The best of these points that may be recommended: which complete with the probability that is
  /// asked for (or the highest there is), and rather meet the limits than not. Empty if there are
  /// none. So a run that completed, but may not do so again, is repeated if it is better.
  std::optional<Incumbent> incumbent() const;

  /// A worth below this is one of nothing: it only orders points that are hopeless.
  static constexpr double kHopeless = 1e-30;

  /// The expected improvement on the incumbent where a run completes and meets the limits, with
  /// predictive standard deviations `inflation` times those of the models; without an incumbent
  /// the probability of both.
  Eigen::VectorXd worth(const std::optional<Incumbent>& incumbent, double inflation) const;

 private:
  Eigen::Index draws() const { return means_.front().mean.cols(); }
  void set_limits_met(const SurrogateModels& models, const Eigen::MatrixXd& coded, Draws draws);
  double response(std::size_t g, double value) const;
  void expect(Eigen::Index i, Eigen::Index draw, std::vector<double>& responses) const;
  double improvement(const Incumbent& incumbent, Eigen::Index i, double inflation) const;

  /// The improvement of one goal whose response, or its logarithm, is normal: of a logarithm the
  /// relative improvement times the best response, which asks less for luck than that of the
  /// response (bench/tuning). Unlike quadrature it has a tail: points that are unlikely to be
  /// better still have an order.
  bool has_closed_form() const;
  double closed_form(const Incumbent& incumbent, Eigen::Index i, double inflation) const;

  const Problem& problem_;
  const Utility& utility_;
  Eigen::VectorXd completes_, meets_limits_;
  std::vector<Means> means_;  ///< of utility_.goals()
};

}  // namespace doetune::tuning
