// Maximum of a polynomial on [-1, 1], in eight lanes at once.
#pragma once

#include "doe/optimal/lanes.h"

namespace doetune::doe {

constexpr int kMaxPower = 4;               ///< of one factor in a model term
constexpr int kMaxDegree = 2 * kMaxPower;  ///< of the criterion along one factor

/// c[0] + c[1] x + ... + c[degree] x^degree.
DOETUNE_INLINE Lanes polynomial(const Lanes* c, int degree, const Lanes& x) {
  Lanes value = c[degree];
  for (int i = degree - 1; i >= 0; --i) value = value * x + c[i];
  return value;
}

/// A zero of the cubic q in [low, high] if q decreases from positive to negative there; otherwise
/// some point of the interval. Newton's method from x if it is inside, with bisection where a step
/// would leave the bracket.
DOETUNE_INLINE Lanes falling_zero(const Lanes* q, Lanes low, Lanes high, Lanes x) {
  x = ((x > low) & (x < high)) ? x : 0.5 * (low + high);
  for (int step = 0; step < 2; ++step) {
    const Lanes value = polynomial(q, 3, x);
    const Lanes slope = (3.0 * q[3] * x + 2.0 * q[2]) * x + q[1];
    low = value > 0 ? x : low;
    high = value > 0 ? high : x;
    const Lanes newton = x - value / slope;
    x = ((newton > low) & (newton < high)) ? newton : 0.5 * (low + high);
  }
  return x;
}

/// The maximiser of the quartic c on [-1, 1]. Its derivative, a cubic, decreases on at most two
/// intervals, bounded by the zeros of the second derivative; an interior local maximum is the
/// single zero of the derivative on such an interval. Newton's method stops before full precision:
/// a search that returns to the coordinate continues from there.
DOETUNE_INLINE Lanes quartic_maximum(const Lanes* c, const Lanes& current) {
  const Lanes q[4] = {c[1], 2.0 * c[2], 3.0 * c[3], 4.0 * c[4]};
  const Lanes one = all_lanes(1);
  // Zeros of q' = q1 + 2 q2 x + 3 q3 x^2, without cancellation.
  const Lanes discriminant = q[2] * q[2] - 3.0 * q[1] * q[3];
  const Lanes root = square_root(larger(discriminant, all_lanes(0)));
  const Lanes sum = -(q[2] + (q[2] < 0 ? -root : root));
  const Lanes first = sum / (3.0 * q[3]);
  const Lanes second = q[1] / sum;
  const LaneMask ordered = first < second;
  Lanes left = smaller(larger(ordered ? first : second, -one), one);
  Lanes right = smaller(larger(ordered ? second : first, -one), one);
  // A monotone cubic (or a quadratic, whose far zero is NaN) has no such intervals.
  const LaneMask usable = (discriminant > 0) & (left <= right);
  const LaneMask middle = q[3] > 0;
  left = usable ? left : (middle ? -one : one);
  right = usable ? right : one;
  // The decreasing intervals: the middle one, or the two outer ones.
  const Lanes lower = middle ? left : -one;
  const Lanes upper = middle ? right : left;
  const LaneMask inner = (polynomial(q, 3, lower) > 0) & (polynomial(q, 3, upper) < 0);
  const LaneMask last = ~middle & (polynomial(q, 3, right) > 0) & (polynomial(q, 3, one) < 0);
  Lanes best = current;
  Lanes best_value = polynomial(c, 4, current);
  const auto consider = [&](const Lanes& x) __attribute__((always_inline)) {
    const Lanes value = polynomial(c, 4, x);
    const LaneMask better = value > best_value;
    best = better ? x : best;
    best_value = better ? value : best_value;
  };
  consider(-one);
  consider(one);
  if (any(inner | last)) {
    const Lanes x = falling_zero(q, inner ? lower : right, inner ? upper : one, current);
    consider(inner | last ? x : current);
  }
  if (any(inner & last)) consider((inner & last) ? falling_zero(q, right, one, current) : current);
  return best;
}

/// An approximate maximiser of the quartic c on [-1, 1] at less than half the cost of
/// quartic_maximum: the best of five points and the current one, improved by Newton's method. Of
/// two nearly equal maxima it may return the lower one.
DOETUNE_INLINE Lanes quartic_large(const Lanes* c, const Lanes& current) {
  Lanes best = current;
  Lanes best_value = polynomial(c, 4, current);
  const auto consider = [&](const Lanes& x, const Lanes& value) __attribute__((always_inline)) {
    const LaneMask better = value > best_value;
    best = better ? x : best;
    best_value = better ? value : best_value;
  };
  const Lanes even = c[0] + c[2] + c[4], odd = c[1] + c[3];
  const Lanes even_half = c[0] + 0.25 * c[2] + 0.0625 * c[4], odd_half = 0.5 * c[1] + 0.125 * c[3];
  consider(all_lanes(1), even + odd);
  consider(all_lanes(-1), even - odd);
  consider(all_lanes(0), c[0]);
  consider(all_lanes(0.5), even_half + odd_half);
  consider(all_lanes(-0.5), even_half - odd_half);
  const LaneMask inside = (best > -1.0) & (best < 1.0);
  if (!any(inside)) return best;
  for (int step = 0; step < 2; ++step) {
    const Lanes slope = ((4.0 * c[4] * best + 3.0 * c[3]) * best + 2.0 * c[2]) * best + c[1];
    const Lanes curvature = (12.0 * c[4] * best + 6.0 * c[3]) * best + 2.0 * c[2];
    Lanes x = smaller(larger(best - slope / curvature, all_lanes(-1)), all_lanes(1));
    x = (inside & (curvature < 0)) ? x : best;
    consider(x, polynomial(c, 4, x));
  }
  return best;
}

/// The maximiser of a function on [-1, 1]: the best of 33 points, refined by three parabolas. For
/// functions whose maxima have no closed-form separation.
template <class Function>
DOETUNE_INLINE Lanes sampled_maximum(const Function& function, const Lanes& current) {
  constexpr double kSpacing = 1.0 / 16;
  Lanes best = current;
  Lanes best_value = function(current);
  const auto consider = [&](const Lanes& x) __attribute__((always_inline)) {
    const Lanes value = function(x);
    const LaneMask better = value > best_value;
    best = better ? x : best;
    best_value = better ? value : best_value;
  };
  for (int i = 0; i <= 32; ++i) consider(all_lanes(-1 + i * kSpacing));
  double h = kSpacing;
  for (int step = 0; step < 3; ++step, h /= 16) {
    const Lanes below = function(best - h);
    const Lanes above = function(best + h);
    const Lanes curvature = above - 2.0 * best_value + below;
    const Lanes move = 0.5 * h * (below - above) / curvature;
    const LaneMask sound = (curvature < 0) & (move < h) & (move > -h);
    consider(smaller(larger(sound ? best + move : best, all_lanes(-1)), all_lanes(1)));
  }
  return best;
}

/// The maximiser of a parabola on [-1, 1].
DOETUNE_INLINE Lanes parabola_maximum(const Lanes* c) {
  const Lanes one = all_lanes(1);
  const Lanes end = c[1] > 0 ? one : -one;
  const Lanes vertex = -0.5 * c[1] / c[2];
  return ((c[2] < 0) & (vertex > -one) & (vertex < one)) ? vertex : end;
}

/// The maximiser of a polynomial on [-1, 1]; if `roughly`, quartics use quartic_large.
DOETUNE_INLINE Lanes polynomial_maximum(const Lanes* c, int degree, const Lanes& current,
                                        bool roughly) {
  if (degree == 2) return parabola_maximum(c);
  if (degree == 4) return roughly ? quartic_large(c, current) : quartic_maximum(c, current);
  const auto value = [&](const Lanes& x) __attribute__((always_inline)) {
    return polynomial(c, degree, x);
  };
  return sampled_maximum(value, current);
}

}  // namespace doetune::doe
