// Directions in which runs are known to become harder to complete; internal to the models of
// completion.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "doe/model.h"
#include "surfaces/models/feasibility.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

/// The coefficients b for which x'b never rises in a direction that makes runs infeasible, anywhere
/// in the region. The derivative is linear in the other factors, so a bound on each term suffices:
/// with |x_j| <= 1, the highest derivative is at most sign b_own + sum of power |b_other|.
class Trends {
 public:
  Trends(const doe::Model& model, const InfeasibleDirections& infeasible_when) {
    for (std::size_t f = 0; f < infeasible_when.size(); ++f) {
      if (!infeasible_when[f]) continue;
      Slope slope;
      slope.sign = *infeasible_when[f] == doe::InfeasibleWhen::kHigher ? 1 : -1;
      for (int c = 0; c < model.column_count(); ++c) {
        const doe::Term& term = model.terms()[static_cast<std::size_t>(model.columns()[c].term)];
        if (term.powers[f] == 0) continue;
        if (term.order() == 1) {
          slope.own = c;
        } else {
          slope.others.push_back({c, static_cast<double>(term.powers[f])});
        }
      }
      slopes_.push_back(std::move(slope));
    }
  }

  bool allow(const Eigen::VectorXd& b) const {
    return std::all_of(slopes_.begin(), slopes_.end(),
                       [&](const Slope& slope) { return slope.highest(b) <= 0; });
  }

  /// The values that one coefficient of an allowed b may take while the others stay.
  Interval range(const Eigen::VectorXd& b, int column) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Interval range{-kInfinity, kInfinity};
    for (const Slope& slope : slopes_) {
      const double slack = std::max(0.0, -slope.highest(b));
      if (column == slope.own) {
        double& end = slope.sign > 0 ? range.high : range.low;
        const double most = b[column] + slope.sign * slack;
        end = slope.sign > 0 ? std::min(end, most) : std::max(end, most);
      }
      for (const auto& [other, power] : slope.others) {
        if (other != column) continue;
        const double most = std::abs(b[column]) + slack / power;
        range = {std::max(range.low, -most), std::min(range.high, most)};
      }
    }
    return range;
  }

 private:
  struct Slope {
    double sign = 1;
    int own = 0;
    std::vector<std::pair<int, double>> others;

    double highest(const Eigen::VectorXd& b) const {
      double sum = sign * b[own];
      for (const auto& [column, power] : others) sum += power * std::abs(b[column]);
      return sum;
    }
  };
  std::vector<Slope> slopes_;
};

}  // namespace doetune::surfaces
