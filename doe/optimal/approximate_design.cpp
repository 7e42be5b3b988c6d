#include "doe/optimal/approximate_design.h"

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

#include "base/clock.h"
#include "base/random.h"
#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/evaluation/max_variance.h"
#include "doe/evaluation/region_sample.h"

namespace doetune::doe {
namespace {

constexpr int kMaxCandidates = 6561;  // 3^8
constexpr double kGapWanted = 1e-5;   // relative gap between the bound and the value attained
constexpr double kEnoughLinear = 1e-4;
constexpr int kMaxApproximatePasses = 100;
constexpr int kMaxMultiplications = 2000;
constexpr int kMaxMirrored = 6;
constexpr double kMinWeight = 1e-12;
constexpr int kMaxBoundColumns = 800;  ///< one step takes seconds beyond that

/// As many values of a factor as the model can distinguish, at the extrema of a Chebyshev
/// polynomial, where optimal measures tend to have their support; for one power, the two ends.
std::vector<double> first_values(const Model& model, std::size_t f) {
  const std::vector<double> settings = coded_settings(model.factors()[f]);
  if (model.factors()[f].is_categorical()) return settings;
  int highest = 1;
  for (const Term& term : model.terms()) highest = std::max(highest, term.powers[f]);
  std::set<double> values;
  for (int i = 0; i <= highest; ++i) {
    const double ideal = -std::cos(std::numbers::pi * i / highest);
    const auto closer = [&](double x, double y) {
      return std::abs(x - ideal) < std::abs(y - ideal);
    };
    values.insert(settings.empty() ? ideal
                                   : *std::min_element(settings.begin(), settings.end(), closer));
  }
  return {values.begin(), values.end()};
}

/// All combinations of the first values if there are few enough, otherwise random ones; for a
/// region that is not a box, a sample of the region.
Eigen::MatrixXd first_candidates(const Model& model, const Region& region) {
  const std::vector<Factor>& factors = model.factors();
  std::vector<std::vector<double>> values;
  double count = 1;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    values.push_back(first_values(model, f));
    count *= static_cast<double>(values.back().size());
  }
  std::vector<Eigen::VectorXd> points;
  if (count <= kMaxCandidates) {
    points = combinations(values);
  } else {
    RandomStream random(0, 0);
    for (int i = 0; i < kMaxCandidates; ++i) {
      Eigen::VectorXd& x = points.emplace_back(factors.size());
      for (Eigen::Index f = 0; f < x.size(); ++f) x[f] = values[f][random.below(values[f].size())];
    }
  }
  const Eigen::MatrixXd sample = region.is_box() ? Eigen::MatrixXd(0, factors.size())
                                                 : region_sample(factors, region, kMaxCandidates);
  std::erase_if(points, [&](const Eigen::VectorXd& x) {
    return !region.is_box() && !region.allows(natural_settings(factors, x));
  });
  Eigen::MatrixXd all(sample.rows() + static_cast<Eigen::Index>(points.size()), factors.size());
  all.topRows(sample.rows()) = sample;
  for (std::size_t i = 0; i < points.size(); ++i) {
    all.row(sample.rows() + static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
  return all;
}

/// A measure on candidate points whose weights maximise |M|.
class Measure {
 public:
  Measure(const Model& model, const Eigen::MatrixXd& points)
      : model_(model),
        f_(model.matrix(points)),
        weights_(
            Eigen::VectorXd::Constant(points.rows(), 1.0 / static_cast<double>(points.rows()))) {}

  /// Computes M^-1; false if M is singular.
  bool invert() {
    const Eigen::MatrixXd m = f_.transpose() * weights_.asDiagonal() * f_;
    const Eigen::LDLT<Eigen::MatrixXd> ldlt(m);
    if (ldlt.info() != Eigen::Success ||
        !(ldlt.vectorD().minCoeff() > 1e-12 * ldlt.vectorD().maxCoeff()))
      return false;
    log_det_ = ldlt.vectorD().array().log().sum();
    inverse_ = ldlt.solve(Eigen::MatrixXd::Identity(m.rows(), m.cols()));
    d_ = (f_ * inverse_).cwiseProduct(f_).rowwise().sum();
    return true;
  }

  double mean_determinant() const { return std::exp(log_det_ / columns()); }  ///< |M|^(1/p)
  double columns() const { return static_cast<double>(f_.cols()); }
  const Eigen::MatrixXd& inverse() const { return inverse_; }

  /// Adds a point with zero weight, and if `mirrored` its reflections in continuous factors: for
  /// models that are symmetric in sign an optimal measure is symmetric as well.
  void add(const Eigen::VectorXd& point, bool mirrored) {
    std::vector<std::vector<double>> values;
    for (Eigen::Index f = 0; f < point.size(); ++f) {
      values.push_back({point[f]});
      const bool mirrors = model_.factors()[f].kind == FactorKind::kContinuous && point[f] != 0;
      if (mirrored && mirrors && f < kMaxMirrored) values.back().push_back(-point[f]);
    }
    const std::vector<Eigen::VectorXd> images = combinations(values);
    const Eigen::Index before = f_.rows();
    f_.conservativeResize(before + static_cast<Eigen::Index>(images.size()), Eigen::NoChange);
    weights_.conservativeResize(f_.rows());
    weights_.tail(f_.rows() - before).setZero();
    for (std::size_t i = 0; i < images.size(); ++i) {
      f_.row(before + static_cast<Eigen::Index>(i)) = model_.row(images[i]);
    }
  }

  /// Exchanges weight until no candidate's variance exceeds p by much, or `go_on` returns false.
  /// Returns false if the matrix became singular.
  template <typename GoOn>
  bool improve(RandomStream& random, GoOn go_on) {
    for (int pass = 0; pass < kMaxApproximatePasses; ++pass) {
      if (!invert()) return false;
      if (d_.maxCoeff() <= columns() * (1 + kGapWanted / 2) || !go_on()) return true;
      exchange(random);
    }
    return invert();
  }

  /// T = tr(M^-1 L), and phi as the matrix of a quadratic form in f.
  double trace(const Eigen::MatrixXd& l) const { return inverse_.cwiseProduct(l).sum(); }
  Eigen::MatrixXd phi(const Eigen::MatrixXd& l) const { return inverse_ * l * inverse_; }

  /// Multiplies weights by sqrt(phi / T) until no candidate's phi exceeds T by much, or `go_on`
  /// returns false. Candidates without weight first get a small one. Returns false if the matrix
  /// became singular.
  template <typename GoOn>
  bool multiply(const Eigen::MatrixXd& l, GoOn go_on) {
    weights_ = weights_.cwiseMax(0.1 / static_cast<double>(weights_.size()));
    weights_ /= weights_.sum();
    for (int pass = 0; pass < kMaxMultiplications; ++pass) {
      if (!invert()) return false;
      const Eigen::VectorXd ratio = (f_ * phi(l)).cwiseProduct(f_).rowwise().sum() / trace(l);
      if (ratio.maxCoeff() <= 1 + kEnoughLinear / 2 || !go_on()) return true;
      weights_ = weights_.cwiseProduct(ratio.cwiseMax(0).cwiseSqrt());
      weights_ /= weights_.sum();
    }
    return invert();
  }

 private:
  /// Exchanges weight between every support point and the points of largest variance.
  void exchange(RandomStream& random) {
    std::vector<int> order(static_cast<std::size_t>(f_.rows()));
    std::iota(order.begin(), order.end(), 0);
    std::vector<int> support;
    std::copy_if(order.begin(), order.end(), std::back_inserter(support),
                 [&](int i) { return weights_[i] > 0; });
    const auto most = std::min<std::size_t>(static_cast<std::size_t>(f_.cols()), order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<long>(most), order.end(),
                      [&](int a, int b) { return d_[a] > d_[b]; });
    for (const int s : random_permutation(static_cast<int>(support.size()), random)) {
      for (const int g : random_permutation(static_cast<int>(most), random)) {
        move_weight(support[s], order[g]);
      }
    }
  }

  /// Moves the amount w of weight from one point to another that maximises |M|: with variances a, b
  /// and covariance c the determinant changes by the factor 1 + w (b - a) - w^2 (a b - c^2).
  void move_weight(int from, int to) {
    if (from == to || weights_[from] + weights_[to] <= 0) return;
    const Eigen::VectorXd v_from = inverse_ * f_.row(from).transpose();
    const Eigen::VectorXd v_to = inverse_ * f_.row(to).transpose();
    const double a = f_.row(from) * v_from;
    const double b = f_.row(to) * v_to;
    const double c = f_.row(from) * v_to;
    const double curvature = a * b - c * c;
    if (curvature <= 1e-12 * a * b) return;
    const double moved = std::clamp((b - a) / (2 * curvature), -weights_[to], weights_[from]);
    if (std::abs(moved) < kMinWeight) return;
    weights_[from] = moved == weights_[from] ? 0 : weights_[from] - moved;
    weights_[to] = moved == -weights_[to] ? 0 : weights_[to] + moved;
    // (M + w (t t' - f f'))^-1 by the rank-two form of the Woodbury identity.
    const double det = 1 + moved * (b - a) - moved * moved * curvature;
    inverse_ -=
        moved / det *
        ((1 - moved * a) * v_to * v_to.transpose() - (1 + moved * b) * v_from * v_from.transpose() +
         moved * c * (v_to * v_from.transpose() + v_from * v_to.transpose()));
  }

  const Model& model_;
  Eigen::MatrixXd f_;
  Eigen::VectorXd weights_;
  Eigen::MatrixXd inverse_;
  Eigen::VectorXd d_;
  double log_det_ = 0;
};

bool is_full_quadratic(const Model& model) {
  for (const Factor& factor : model.factors()) {
    if (factor.kind != FactorKind::kContinuous) return false;
  }
  const Model quadratic = Model::named("quadratic", model.factors());
  return std::is_permutation(model.terms().begin(), model.terms().end(), quadratic.terms().begin(),
                             quadratic.terms().end());
}

/// The full quadratic model in k factors on the cube. By symmetry some optimal measure is uniform,
/// for each j, over the points of {-1, 0, 1}^k with j nonzero entries, with total weight w_j. With
/// its moments u = E x_a^2 and v = E x_a^2 x_b^2, r = u - v and q = r + k (v - u^2),
///
///   |M| = u^k v^(k(k-1)/2) r^(k-1) q
///   d = 1 + sum s_i / u + sum_{i<j} s_i s_j / v + (s - u)' S^-1 (s - u),  s_i = x_i^2
///
/// with S = r I + (v - u^2) J. Since d is convex in every s_i, it is largest where each is 0 or 1:
/// the bound needs only the k + 1 values of d there, and is exact for any k.
ApproximateBound quadratic_d_bound(int k) {
  constexpr int kMaxSteps = 1'000'000;
  const double p = (k + 1) * (k + 2) / 2.0;
  const Eigen::ArrayXd j = Eigen::ArrayXd::LinSpaced(k + 1, 0, k);
  const Eigen::ArrayXd pairs = j * (j - 1) / 2;
  Eigen::ArrayXd weights = Eigen::ArrayXd::Constant(k + 1, 1.0 / (k + 1));
  ApproximateBound bound;
  for (int step = 0; step < kMaxSteps; ++step) {
    const double u = (weights * j).sum() / k;
    const double v = k == 1 ? 0 : (weights * pairs).sum() / (k * (k - 1) / 2.0);
    const double r = u - v;
    const double q = r + k * (v - u * u);
    const Eigen::ArrayXd off = j - k * u;  // sum of s - u; the sum of squares follows
    const Eigen::ArrayXd off_squared = j * (1 - u) * (1 - u) + (k - j) * u * u;
    Eigen::ArrayXd d = 1 + j / u + (off_squared - (v - u * u) / q * off.square()) / r;
    if (k > 1) d += pairs / v;
    double log_det = k * std::log(u) + (k - 1) * std::log(r) + std::log(q);
    if (k > 1) log_det += k * (k - 1) / 2.0 * std::log(v);
    bound.attained_percent = 100 * std::exp(log_det / p);
    bound.efficiency_percent = bound.attained_percent * d.maxCoeff() / p;
    if (d.maxCoeff() <= p * (1 + kGapWanted / 10)) break;
    weights *= d / p;
  }
  bound.proven = true;
  return bound;
}

}  // namespace

std::optional<ApproximateBound> d_bound(const Model& model, const Region& region,
                                        double time_limit_s) {
  if (region.is_box() && is_full_quadratic(model)) {
    return quadratic_d_bound(static_cast<int>(model.factors().size()));
  }
  if (model.column_count() > kMaxBoundColumns) return std::nullopt;
  const Clock::time_point start = Clock::now();
  const auto left = [&] {
    return time_limit_s - std::chrono::duration<double>(Clock::now() - start).count();
  };
  Measure measure(model, first_candidates(model, region));
  if (!measure.invert()) return std::nullopt;
  RandomStream random(0, 1);
  std::optional<ApproximateBound> best;
  double gap = 1;
  while (true) {
    if (!measure.improve(random, [&] { return left() > time_limit_s / 2; })) return best;
    const MaxVariance most =
        max_variance(model, region, measure.inverse(), std::max(kGapWanted / 4, gap / 20),
                     std::max(0.0, left()));
    const bool proven = region.is_box() || most.proven;
    const double attained = 100 * measure.mean_determinant();
    const double largest = proven ? most.upper_bound : most.value;
    const double limit = attained * largest / measure.columns();
    if (!best || limit < best->efficiency_percent) best = {limit, attained, proven};
    best->attained_percent = std::max(best->attained_percent, attained);
    gap = best->efficiency_percent / best->attained_percent - 1;
    if (gap <= 2 * kGapWanted || left() <= 0) return best;
    measure.add(most.at, region.is_box());
  }
}

std::optional<LinearBound> linear_bound(const Model& model, const Region& region,
                                        const Eigen::MatrixXd& criterion, double time_limit_s) {
  if (model.column_count() > kMaxBoundColumns) return std::nullopt;
  const Clock::time_point start = Clock::now();
  const auto left = [&] {
    return time_limit_s - std::chrono::duration<double>(Clock::now() - start).count();
  };
  Measure measure(model, first_candidates(model, region));
  if (!measure.invert()) return std::nullopt;
  std::optional<LinearBound> best;
  while (true) {
    if (!measure.multiply(criterion, [&] { return left() > time_limit_s / 2; })) return best;
    const MaxVariance most = max_variance(model, region, measure.phi(criterion), kEnoughLinear / 10,
                                          std::max(0.0, left()));
    const bool proven = region.is_box() || most.proven;
    const double attained = measure.trace(criterion);
    const double least = attained * attained / (proven ? most.upper_bound : most.value);
    if (!best || least > best->least) best = {least, attained, proven};
    best->attained = std::min(best->attained, attained);
    if (best->attained <= best->least * (1 + 2 * kEnoughLinear) || left() <= 0) return best;
    measure.add(most.at, region.is_box());
  }
}

}  // namespace doetune::doe
