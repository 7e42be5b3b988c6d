#include "doe/evaluation/polynomial_maximum.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>

#include "base/clock.h"
#include "base/random.h"
#include "doe/evaluation/polynomial_bound.h"

namespace doetune::doe {
namespace {

constexpr int kClimbs = 32;
constexpr int kMaxSweeps = 100;
constexpr int kMaxGridPoints = 6561;  // 3^8, for all polynomials together
constexpr int kMinGridPoints = 27;    // for each polynomial

struct Box {
  int which = 0;
  double bound = std::numeric_limits<double>::infinity();
  Eigen::VectorXd low, high;

  bool operator<(const Box& other) const { return bound < other.bound; }
};

class Search {
 public:
  Search(const PolynomialProblem& problem, double relative_gap, double time_limit_s)
      : p_(problem),
        gap_(relative_gap),
        rounding_(problem.rounding),
        stop_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(time_limit_s))) {}

  PolynomialMaximum run() {
    best_.value = -std::numeric_limits<double>::infinity();
    climb_from_grid();
    for (int which = 0; which < count(); ++which) open_.push(whole(which));
    while (!open_.empty() && open_.top().bound > target() && Clock::now() < stop_) {
      const Box box = open_.top();
      open_.pop();
      settle(box);
    }
    if (!open_.empty()) close(open_.top().bound);
    best_.upper_bound = std::max(settled_, best_.value);
    best_.proven = best_.upper_bound <= target();
    return best_;
  }

 private:
  int count() const { return static_cast<int>(p_.coefficients.size()); }
  int variables() const { return p_.monomials.variables(); }
  bool continuous(int v) const { return p_.settings[v].empty(); }
  double target() const { return best_.value + gap_ * std::abs(best_.value); }

  /// Records a point if it is the best so far.
  void offer(int which, const Eigen::VectorXd& x) {
    const double value = p_.monomials.value(p_.coefficients[which], x);
    if (value <= best_.value) return;
    best_.value = value;
    best_.which = which;
    best_.at = x;
  }

  /// Moves one variable to the maximiser along its line.
  void move_along(int which, int v, Eigen::VectorXd& x) const {
    const Eigen::VectorXd line = p_.monomials.along(p_.coefficients[which], x, v);
    if (continuous(v)) {
      x[v] = largest_at(line, -1, 1);
      return;
    }
    x[v] = *std::max_element(p_.settings[v].begin(), p_.settings[v].end(), [&](double a, double b) {
      return polynomial_value(line, a) < polynomial_value(line, b);
    });
  }

  void climb(int which, Eigen::VectorXd x) {
    double before = -std::numeric_limits<double>::infinity();
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      for (int v = 0; v < variables(); ++v) move_along(which, v, x);
      const double value = p_.monomials.value(p_.coefficients[which], x);
      if (value <= before + 1e-13 * std::abs(before)) break;
      before = value;
    }
    offer(which, x);
  }

  /// Climbs from the best points of a grid of low, middle and high values, or of random grid points
  /// if the grid is large.
  void climb_from_grid() {
    struct Start {
      double value;
      int which;
      Eigen::VectorXd x;
    };
    std::vector<Start> starts;
    const int most = std::max(kMinGridPoints, kMaxGridPoints / count());
    const bool all = std::pow(3, variables()) <= most;
    const int points = all ? static_cast<int>(std::pow(3, variables())) : most;
    for (int which = 0; which < count(); ++which) {
      RandomStream random(0, which);
      for (int point = 0; point < points; ++point) {
        Eigen::VectorXd x(variables());
        for (int v = 0, rest = point; v < variables(); ++v, rest /= 3) {
          x[v] = grid_value(v, all ? rest % 3 : static_cast<int>(random.below(3)));
        }
        starts.push_back({p_.monomials.value(p_.coefficients[which], x), which, x});
      }
    }
    const auto best = std::min<std::size_t>(kClimbs, starts.size());
    std::partial_sort(starts.begin(), starts.begin() + static_cast<long>(best), starts.end(),
                      [](const Start& a, const Start& b) { return a.value > b.value; });
    for (std::size_t i = 0; i < best && (i == 0 || Clock::now() < stop_); ++i) {
      climb(starts[i].which, starts[i].x);
    }
  }

  double grid_value(int v, int third) const {
    if (continuous(v)) return third - 1;
    return p_.settings[v][(p_.settings[v].size() - 1) * static_cast<std::size_t>(third) / 2];
  }

  /// The whole search domain; of a variable with even powers only, one half suffices.
  Box whole(int which) {
    Box box;
    box.which = which;
    box.low = Eigen::VectorXd::Constant(variables(), -1);
    box.high = Eigen::VectorXd::Constant(variables(), 1);
    for (int v = 0; v < variables(); ++v) {
      const double odd = odd_part(which, v);
      if (continuous(v) && odd <= p_.rounding) {
        box.low[v] = 0;
        rounding_ += 2 * odd;
      }
      if (continuous(v)) continue;
      box.low[v] = p_.settings[v].front();
      box.high[v] = p_.settings[v].back();
    }
    return box;
  }

  /// An upper bound on the sum of the terms with odd powers of a variable, and of their slopes.
  double odd_part(int which, int v) const {
    double sum = 0;
    for (int m = 0; m < p_.monomials.size(); ++m) {
      for (const Monomials::Power& power : p_.monomials.powers(m)) {
        if (power.variable != v || power.exponent % 2 == 0) continue;
        sum += power.exponent * std::abs(p_.coefficients[which][m]);
      }
    }
    return sum;
  }

  void settle(Box box) {
    const Eigen::VectorXd center = (box.low + box.high) / 2;
    const Eigen::VectorXd half = (box.high - box.low) / 2;
    Eigen::VectorXd about = p_.coefficients[box.which];
    p_.monomials.recenter(about, center, half);
    const PolynomialBounds bounds = polynomial_bounds(p_.monomials, about);
    box.bound = std::min(box.bound, bounds.upper + rounding_);
    if (box.bound <= target()) return close(box.bound);
    if (half.isZero(0)) {
      offer(box.which, center);
      return close(box.bound);
    }
    if (move_to_ends(box, bounds)) return;
    Eigen::VectorXd t;
    const double concave = concave_upper_bound(p_.monomials, about, t) + rounding_;
    if (concave < box.bound) {
      offer_near(box.which, center + half.cwiseProduct(t));
      box.bound = concave;
      if (box.bound <= target()) return close(box.bound);
    }
    if (about[0] > best_.value) offer_near(box.which, center);
    split(box, bounds.weight);
  }

  void offer_near(int which, Eigen::VectorXd x) {
    for (int v = 0; v < x.size(); ++v) {
      if (continuous(v)) continue;
      x[v] = *std::min_element(
          p_.settings[v].begin(), p_.settings[v].end(),
          [&](double a, double b) { return std::abs(a - x[v]) < std::abs(b - x[v]); });
    }
    if (p_.monomials.value(p_.coefficients[which], x) > best_.value) climb(which, std::move(x));
  }

  void close(double bound) { settled_ = std::max(settled_, bound); }

  /// If a slope keeps its sign over the box, or a curvature is positive, the maximum lies at an end
  /// of that variable. For a continuous variable only an end of its whole range counts: a maximum
  /// over the whole range cannot lie at an interior end.
  bool move_to_ends(const Box& box, const PolynomialBounds& bounds) {
    const double degree = p_.monomials.degree();
    for (int v = 0; v < variables(); ++v) {
      if (box.low[v] == box.high[v]) continue;
      const double margin = bounds.slope_radius[v] + degree * rounding_;
      const double bend =
          bounds.curvature[v] - bounds.curvature_radius[v] - degree * degree * rounding_;
      const bool falls = bounds.slope[v] < -margin;
      const bool rises = bounds.slope[v] > margin;
      if (!falls && !rises && bend <= 0) continue;
      if (!rises && (!continuous(v) || box.low[v] == -1)) push_end(box, v, box.low[v]);
      if (!falls && (!continuous(v) || box.high[v] == 1)) push_end(box, v, box.high[v]);
      return true;
    }
    return false;
  }

  void push_end(const Box& box, int v, double end) {
    Box face = box;
    face.low[v] = face.high[v] = end;
    open_.push(std::move(face));
  }

  void split(const Box& box, const Eigen::VectorXd& weight) {
    int v = -1;
    for (int i = 0; i < weight.size(); ++i) {
      if (box.low[i] < box.high[i] && (v < 0 || weight[i] > weight[v])) v = i;
    }
    Box lower = box;
    Box upper = box;
    lower.high[v] = upper.low[v] = (box.low[v] + box.high[v]) / 2;
    if (!continuous(v)) {
      const std::vector<double>& s = p_.settings[v];
      const auto above = std::upper_bound(s.begin(), s.end(), lower.high[v]);
      upper.low[v] = *above;
      lower.high[v] = *(above - 1);
    }
    open_.push(std::move(lower));
    open_.push(std::move(upper));
  }

  const PolynomialProblem& p_;
  double gap_;
  double rounding_;
  Clock::time_point stop_;
  std::priority_queue<Box> open_;
  double settled_ = -std::numeric_limits<double>::infinity();
  PolynomialMaximum best_;
};

}  // namespace

PolynomialMaximum polynomial_maximum(const PolynomialProblem& problem, double relative_gap,
                                     double time_limit_s) {
  return Search(problem, relative_gap, time_limit_s).run();
}

}  // namespace doetune::doe
