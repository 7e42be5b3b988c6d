#include "surfaces/optimum/box_optimum.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <limits>
#include <stdexcept>
#include <vector>

namespace doetune::surfaces {
namespace {

constexpr int kMaxFactors = static_cast<int>(kMaxBoxFactors);
// Sized at compile time, since faces are small and numerous.
using SmallVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMaxFactors, 1>;
using SmallMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMaxFactors, kMaxFactors>;
using Indices = std::vector<Eigen::Index>;

class Faces {
 public:
  Faces(const QuadraticForm& q, const Eigen::VectorXd& low, const Eigen::VectorXd& high)
      : constant_(q.constant), linear_(q.linear), second_(q.second), low_(low), high_(high) {
    at_ = low_;
    best_ = {low, std::numeric_limits<double>::lowest()};
    fix_monotone();
  }

  BoxOptimum search() {
    const auto open = static_cast<unsigned>(open_.size());
    for (unsigned subset = 0; subset < (1U << open); ++subset) search_faces(subset);
    return best_;
  }

 private:
  /// Fixes variables in which q is monotone over the whole box at an end.
  void fix_monotone() {
    for (Eigen::Index i = 0; i < linear_.size(); ++i) {
      double least = linear_[i], most = linear_[i];
      for (Eigen::Index j = 0; j < linear_.size(); ++j) {
        const double a = 2 * second_(i, j) * low_[j], b = 2 * second_(i, j) * high_[j];
        least += std::min(a, b);
        most += std::max(a, b);
      }
      if (least >= 0) at_[i] = high_[i];
      if (least < 0 && most > 0 && low_[i] < high_[i]) open_.push_back(i);
    }
  }

  /// Searches the faces whose free variables are a subset of the open ones.
  void search_faces(unsigned subset) {
    free_.clear();
    ends_.clear();
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const bool is_free = (subset >> i & 1U) != 0;
      if (is_free && second_(open_[i], open_[i]) >= 0) return;
      (is_free ? free_ : ends_).push_back(open_[i]);
    }
    const SmallMatrix bend = -2 * second_(free_, free_);
    const Eigen::LLT<SmallMatrix> bent(bend);
    if (!free_.empty() && bent.info() != Eigen::Success) return;
    for (unsigned corner = 0; corner < (1U << ends_.size()); ++corner) {
      for (std::size_t i = 0; i < ends_.size(); ++i) {
        at_[ends_[i]] = (corner >> i & 1U) != 0 ? high_[ends_[i]] : low_[ends_[i]];
      }
      if (free_.empty() || moves_inside(bent)) keep_if_best();
    }
  }

  /// Moves the free variables to the stationary point on the face; false if that is outside.
  bool moves_inside(const Eigen::LLT<SmallMatrix>& bent) {
    for (const Eigen::Index i : free_) at_[i] = 0;
    const SmallVector gradient = linear_ + 2 * second_ * at_;
    const SmallVector inside = bent.solve(gradient(free_).eval());
    for (std::size_t i = 0; i < free_.size(); ++i) {
      const double c = inside[static_cast<Eigen::Index>(i)];
      if (!(c >= low_[free_[i]] && c <= high_[free_[i]])) return false;
      at_[free_[i]] = c;
    }
    return true;
  }

  void keep_if_best() {
    const double value = constant_ + at_.dot(linear_ + second_ * at_);
    if (value > best_.value) best_ = {at_, value};
  }

  double constant_;
  SmallVector linear_;
  SmallMatrix second_;
  SmallVector low_, high_;
  Indices open_;         ///< variables not fixed at an end
  Indices free_, ends_;  ///< of the current face
  SmallVector at_;
  BoxOptimum best_;
};

}  // namespace

BoxOptimum highest_in_box(const QuadraticForm& q, const Eigen::VectorXd& low,
                          const Eigen::VectorXd& high) {
  if (q.linear.size() > kMaxBoxFactors) {
    throw std::invalid_argument(
        fmt::format("an exact optimum over {} factors is infeasible; at most {} are possible",
                    q.linear.size(), kMaxBoxFactors));
  }
  return Faces(q, low, high).search();
}

QuadraticForm negated(const QuadraticForm& q) { return {-q.constant, -q.linear, -q.second}; }

}  // namespace doetune::surfaces
