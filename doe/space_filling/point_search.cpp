#include "doe/space_filling/point_search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parallel.h"

namespace doetune::doe {
namespace {

constexpr int kStartsPerRound = 8;
constexpr int kDefaultStarts = 2 * kStartsPerRound;
constexpr int kStepsPerStage = 100;       // at one temperature
constexpr int kStagesPerRefresh = 100;    // keeps rounding errors far below 1e-6
constexpr int kPolishStepsASetting = 50;  // attempts to improve one setting
// Temperatures times the number of points, in units of PairEnergy::value: a move changes a
// criterion by about the fraction 1 / n.
constexpr double kHot = 0.1;
constexpr double kCold = 0.0015;

class Annealing {
 public:
  Annealing(const SpaceFillingTask& task, RandomStream random)
      : task_(task), random_(random), state_(task.criterion, start_points(), fixed()) {
    refresh();
  }

  void run(int steps, const Stopwatch& stopwatch) {
    const int stages = std::max(1, steps / kStepsPerStage);
    for (int stage = 0; stage < stages && !stopwatch.expired(); ++stage) {
      temperature_ = kHot / runs() * std::pow(kCold / kHot, static_cast<double>(stage) / stages);
      if (stage % kStagesPerRefresh == 0) refresh();
      for (int step = 0; step < kStepsPerStage; ++step) move();
    }
    state_ = PairEnergy(task_.criterion, {best_points_, task_.columns}, fixed());
    refresh();
  }

  /// Accepts only improvements, in columns that may leave the Latin hypercube.
  void polish(const Stopwatch& stopwatch) {
    temperature_ = 0;
    const auto columns = static_cast<int>(task_.polished.size());
    for (int pass = 0; pass < kPolishStepsASetting && !stopwatch.expired(); ++pass) {
      for (int step = 0; step < runs() * columns; ++step) {
        move_setting(any_row(), task_.polished[pick(columns, random_)]);
      }
      refresh();
    }
  }

  const Eigen::MatrixXd& best_points() const { return best_points_; }
  double best_value() const { return best_value_; }

 private:
  int fixed() const { return static_cast<int>(task_.fixed.rows()); }
  int runs() const { return static_cast<int>(task_.settings.rows()); }
  int columns() const { return static_cast<int>(task_.settings.cols()); }
  int any_row() { return fixed() + pick(runs(), random_); }

  UnitPoints start_points() {
    UnitPoints points{Eigen::MatrixXd(fixed() + runs(), columns()), task_.columns};
    if (fixed() > 0) points.x.topRows(fixed()) = task_.fixed;
    if (task_.allows) {
      const auto pool = static_cast<int>(task_.pool.rows());
      const std::vector<int> order = random_permutation(pool, random_);
      for (int i = 0; i < runs(); ++i) points.x.row(fixed() + i) = task_.pool.row(order[i % pool]);
      return points;
    }
    for (int c = 0; c < columns(); ++c) {
      const std::vector<int> order = random_permutation(runs(), random_);
      for (int i = 0; i < runs(); ++i) points.x(fixed() + i, c) = task_.settings(order[i], c);
    }
    return points;
  }

  void refresh() {
    state_.refresh();
    value_ = state_.value();
    keep_best();
  }

  void keep_best() {
    if (best_points_.size() > 0 && value_ >= best_value_) return;
    best_points_ = state_.points().x;
    best_value_ = value_;
  }

  bool likes(double value) {
    return value <= value_ ||
           (temperature_ > 0 && random_.uniform() < std::exp((value_ - value) / temperature_));
  }

  bool allowed_after(int row, int column, double setting) const {
    if (!task_.allows) return true;
    Eigen::VectorXd point = state_.points().x.row(row);
    point[column] = setting;
    return task_.allows(point);
  }

  void move() {
    if (task_.allows && random_.uniform() < 0.1) {
      replace_point(any_row());
    } else if (task_.free && (runs() == 1 || random_.uniform() < 0.5)) {
      move_setting(any_row(), pick(columns(), random_));
    } else if (runs() > 1) {
      swap_settings();
    }
  }

  void swap_settings() {
    PointMove move;
    move.column = pick(columns(), random_);
    move.row = any_row();
    move.partner = fixed() + pick(runs() - 1, random_);
    if (move.partner >= move.row) ++move.partner;
    const auto column = state_.points().x.col(move.column);
    move.setting = column[move.partner];
    move.partner_setting = column[move.row];
    if (move.setting == move.partner_setting) return;
    if (const double value = state_.value_after(move);
        likes(value) && allowed_after(move.row, move.column, move.setting) &&
        allowed_after(move.partner, move.column, move.partner_setting)) {
      take();
    }
  }

  void move_setting(int row, int column) {
    const double now = state_.points().x(row, column);
    // Steps of all sizes from the full range down to a hundredth of it.
    const double reach = std::pow(10.0, -2 * random_.uniform());
    const double u = random_.uniform();
    const bool numeric = task_.columns[column].kind == ColumnKind::kContinuous;
    const double setting =
        numeric ? task_.usable(column, std::clamp(now + reach * (2 * u - 1), 0.0, 1.0), true)
                : task_.usable(column, u, false);
    if (setting == now) return;
    if (numeric && task_.criterion == SpaceFillingCriterion::kMaxPro &&
        (state_.points().x.col(column).array() == setting).any()) {
      return;
    }
    if (const double value = state_.value_after({column, row, setting});
        likes(value) && allowed_after(row, column, setting)) {
      take();
    }
  }

  /// Replaces a point by one of the pool, to reach parts of the region that single-setting moves
  /// cannot.
  void replace_point(int row) {
    const Eigen::RowVectorXd before = state_.points().x.row(row);
    const double value =
        put(row, task_.pool.row(pick(static_cast<int>(task_.pool.rows()), random_)));
    if (!likes(value)) {
      put(row, before);
      return;
    }
    value_ = value;
    keep_best();
  }

  double put(int row, const Eigen::RowVectorXd& point) {
    for (int c = 0; c < columns(); ++c) {
      state_.value_after({c, row, point[c]});
      state_.accept();
    }
    return state_.value();
  }

  void take() {
    state_.accept();
    value_ = state_.value();
    keep_best();
  }

  const SpaceFillingTask& task_;
  RandomStream random_;
  PairEnergy state_;
  double value_ = 0;
  double temperature_ = 0;
  Eigen::MatrixXd best_points_;
  double best_value_ = std::numeric_limits<double>::infinity();
};

int annealing_steps(int start, int runs) {
  const int first = std::clamp(10'000'000 / runs, 10'000, 100'000);
  return first << std::min(start / kStartsPerRound, 12);
}

std::string criterion_name(SpaceFillingCriterion criterion) {
  switch (criterion) {
    case SpaceFillingCriterion::kMaximin:
      return "smallest distance of two points of the unit cube";
    case SpaceFillingCriterion::kMaxPro:
      return "MaxPro criterion of the unit cube";
    case SpaceFillingCriterion::kCenteredL2:
      break;
  }
  return "centred L2 discrepancy";
}

}  // namespace

Filled fill_space(const SpaceFillingTask& task, const SearchEffort& effort) {
  const Stopwatch stopwatch(effort.time_limit_s);
  const int starts = effort.starts.value_or(kDefaultStarts);
  const int fixed = static_cast<int>(task.fixed.rows());
  const int n = fixed + static_cast<int>(task.settings.rows());
  std::vector<Eigen::MatrixXd> points(starts);
  // Whether the points are not preferred, and their criterion: the smallest is the best.
  std::vector<std::pair<bool, double>> values(starts);
  std::atomic<int> begun = 0;
  parallel_for(starts, effort.threads, [&](int start) {
    // The first start always runs, so that there is a design if the time limit is 0.
    if (start > 0 && stopwatch.expired()) return;
    Annealing annealing(task, RandomStream(effort.seed, start));
    if (n > 1) annealing.run(annealing_steps(start, n), stopwatch);
    if (n > 1 && !task.polished.empty()) annealing.polish(stopwatch);
    points[start] = annealing.best_points();
    values[start] = {task.prefers && !task.prefers(points[start]), annealing.best_value()};
    ++begun;
  });
  int best = 0;
  for (int start = 1; start < starts; ++start) {
    if (points[start].size() > 0 && values[start] < values[best]) best = start;
  }
  Filled filled{points[best].bottomRows(n - fixed), {}};
  filled.search.criterion = criterion_name(task.criterion);
  filled.search.best = PairEnergy(task.criterion, {points[best], task.columns}, fixed).criterion();
  filled.search.starts = begun;
  for (int start = 0; start < starts; ++start) {
    if (points[start].size() == 0 || values[start].first != values[best].first) continue;
    if (values[start].second < values[best].second + 1e-6) ++filled.search.best_found;
  }
  filled.search.seconds = stopwatch.seconds();
  filled.search.stopped_by_time = stopwatch.expired();
  return filled;
}

}  // namespace doetune::doe
