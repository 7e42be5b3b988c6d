#include "surfaces/models/headroom.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "surfaces/distributions.h"
#include "surfaces/models/posterior_draws.h"
#include "surfaces/models/trends.h"

namespace doetune::surfaces {
namespace {

constexpr double kConstantDeviation = 10, kMainScale = 1, kOtherScale = 0.5;
constexpr double kErrorDeviation = 0.15, kErrorPoints = 4;  // as if so many points had shown it
constexpr int kFirstSweeps = 500, kSweepsPerDraw = 10;
constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// A normal number within [low, high].
double truncated_normal(double mean, double deviation, Interval within, PosteriorDraws& random) {
  if (std::isinf(within.low) && std::isinf(within.high)) return mean + deviation * random.normal();
  const double low = (within.low - mean) / deviation, high = (within.high - mean) / deviation;
  // In the lower tail, where probabilities keep their precision.
  const bool mirrored = low > 0;
  const double from = normal_probability(mirrored ? -high : low);
  const double to = normal_probability(mirrored ? -low : high);
  const double probability = from + (to - from) * random.uniform();
  const bool is_far = probability < std::numeric_limits<double>::min();
  double z = is_far ? (mirrored ? -low : high) : normal_value(probability);
  if (mirrored) z = -z;
  return std::clamp(mean + deviation * z, within.low, within.high);
}

/// A standard deviation with a half-Cauchy prior, given numbers of that deviation about 0.
class Deviation {
 public:
  explicit Deviation(double scale) : scale_(scale), square_(scale * scale) {}

  void draw(double sum_of_squares, Eigen::Index count, PosteriorDraws& random) {
    const auto inverse_gamma = [&](double shape, double rate) {
      return 2 * rate / random.chi_squared(2 * shape);
    };
    const double mixture = inverse_gamma(1, 1 / (scale_ * scale_) + 1 / square_);
    square_ = inverse_gamma((static_cast<double>(count) + 1) / 2, 1 / mixture + sum_of_squares / 2);
  }

  double square() const { return square_; }

 private:
  double scale_, square_;
};

/// What the runs tell, each point once for all runs alike: with a reading (their mean), completed
/// without one, or infeasible. Readings of memory hardly vary from run to run. What e stands for is
/// what the model misses at a point, and that does not average out over runs there.
struct Points {
  Points(const Eigen::MatrixXd& rows, const std::vector<bool>& run_completed,
         const Eigen::VectorXd& run_headroom) {
    using Key = std::tuple<std::vector<double>, bool, bool>;  // columns, completed, read
    std::map<Key, std::vector<double>> readings;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      const Eigen::VectorXd row = rows.row(i);
      readings[{{row.begin(), row.end()},
                run_completed[static_cast<std::size_t>(i)],
                std::isfinite(run_headroom[i])}]
          .push_back(run_headroom[i]);
    }
    const auto count = static_cast<Eigen::Index>(readings.size());
    columns.resize(count, rows.cols());
    headroom.resize(count);
    for (const auto& [key, values] : readings) {
      const auto at = static_cast<Eigen::Index>(completed.size());
      columns.row(at) = Eigen::Map<const Eigen::RowVectorXd>(std::get<0>(key).data(), rows.cols());
      completed.push_back(std::get<1>(key));
      headroom[at] =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    }
  }

  Eigen::MatrixXd columns;
  std::vector<bool> completed;
  Eigen::VectorXd headroom;  ///< not a number without a reading
};

class HeadroomSampler {
 public:
  HeadroomSampler(const doe::Model& model, Points points,
                  const InfeasibleDirections& infeasible_when)
      : rows_(std::move(points.columns)),
        completed_(std::move(points.completed)),
        read_(points.headroom.array().isFinite()),
        trends_(model, infeasible_when),
        squares_(rows_.colwise().squaredNorm()),
        b_(Eigen::VectorXd::Zero(rows_.cols())),
        rest_(read_.select(points.headroom.array(), 0)) {
    for (int c = 0; c < model.column_count(); ++c) {
      order_.push_back(model.terms()[static_cast<std::size_t>(model.columns()[c].term)].order());
    }
  }

  void step() {
    draw_what_was_not_read();
    for (Eigen::Index c = 0; c < b_.size(); ++c) draw_coefficient(c);
    draw_deviation(mains_, 1, 1);
    draw_deviation(others_, 2, std::numeric_limits<int>::max());
    draw_error();
  }

  Eigen::VectorXd log_odds() const { return b_ * (std::numbers::pi / std::sqrt(3 * error_)); }

 private:
  double prior_variance(Eigen::Index c) const {
    const int order = order_[static_cast<std::size_t>(c)];
    if (order == 0) return kConstantDeviation * kConstantDeviation;
    return order == 1 ? mains_.square() : others_.square();
  }

  void draw_what_was_not_read() {
    const double deviation = std::sqrt(error_);
    for (Eigen::Index i = 0; i < rest_.size(); ++i) {
      if (read_[i]) continue;
      const double mean = rows_.row(i).dot(b_);
      const bool ran = completed_[static_cast<std::size_t>(i)];
      const Interval within = ran ? Interval{0, kNoEnd} : Interval{-kNoEnd, 0};
      rest_[i] = truncated_normal(mean, deviation, within, random_) - mean;
    }
  }

  void draw_coefficient(Eigen::Index c) {
    const double precision = squares_[c] / error_ + 1 / prior_variance(c);
    const double mean = (rows_.col(c).dot(rest_) + squares_[c] * b_[c]) / error_ / precision;
    const double drawn = truncated_normal(mean, 1 / std::sqrt(precision),
                                          trends_.range(b_, static_cast<int>(c)), random_);
    rest_ -= rows_.col(c) * (drawn - b_[c]);
    b_[c] = drawn;
  }

  void draw_error() {
    const double sum = kErrorPoints * kErrorDeviation * kErrorDeviation + rest_.squaredNorm();
    error_ = sum / random_.chi_squared(kErrorPoints + static_cast<double>(rest_.size()));
  }

  /// Of the coefficients whose terms have these orders.
  void draw_deviation(Deviation& deviation, int lowest, int highest) {
    double sum = 0;
    Eigen::Index count = 0;
    for (Eigen::Index c = 0; c < b_.size(); ++c) {
      const int order = order_[static_cast<std::size_t>(c)];
      if (order < lowest || order > highest) continue;
      sum += b_[c] * b_[c];
      ++count;
    }
    if (count > 0) deviation.draw(sum, count, random_);
  }

  Eigen::MatrixXd rows_;
  std::vector<bool> completed_;
  Eigen::Array<bool, Eigen::Dynamic, 1> read_;
  Trends trends_;
  Eigen::VectorXd squares_;
  std::vector<int> order_;  ///< of the term of each column
  Eigen::VectorXd b_;
  Eigen::VectorXd rest_;  ///< h - x'b of every point
  Deviation mains_{kMainScale}, others_{kOtherScale};
  double error_ = kErrorDeviation * kErrorDeviation;  ///< s^2
  PosteriorDraws random_;
};

}  // namespace

std::optional<double> headroom_of(const std::map<std::string, double>& values,
                                  const std::map<std::string, double>& capacities) {
  std::optional<double> least;
  for (const auto& [response, capacity] : capacities) {
    const auto used = values.find(response);
    if (used == values.end() || !(used->second > 0)) continue;
    const double headroom = std::log(capacity / used->second);
    least = std::min(headroom, least.value_or(headroom));
  }
  return least;
}

Eigen::MatrixXd headroom_draws(const doe::Model& model, const Eigen::MatrixXd& rows,
                               const std::vector<bool>& completed, const Eigen::VectorXd& headroom,
                               const InfeasibleDirections& infeasible_when, int draws) {
  HeadroomSampler sampler(model, Points(rows, completed, headroom), infeasible_when);
  for (int i = 0; i < kFirstSweeps; ++i) sampler.step();
  Eigen::MatrixXd result(rows.cols(), draws);
  for (int draw = 0; draw < draws; ++draw) {
    for (int i = 0; i < kSweepsPerDraw; ++i) sampler.step();
    result.col(draw) = sampler.log_odds();
  }
  return result;
}

}  // namespace doetune::surfaces
