#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "doe/optimal/split_plot.h"

namespace doetune::doe {
namespace {

constexpr int kGrid = 10;        ///< grid intervals of [-1, 1] for a continuous factor
constexpr int kBisections = 20;  ///< towards the edge of the allowed region
constexpr int kParabolas = 3;    ///< interpolations that refine the best grid point

/// c of a whole plot with m runs.
double shared_weight(double variance_ratio, Eigen::Index m) {
  return variance_ratio / (1 + static_cast<double>(m) * variance_ratio);
}

double determinant_weight(const ExchangeProblem& problem) {
  if (problem.criterion == ExactCriterion::kCompound) return problem.determinant_weight;
  return problem.criterion == ExactCriterion::kDeterminant ? 1 : 0;
}

/// Finds the best setting of one coordinate.
class LineSearch {
 public:
  LineSearch(const Coordinate& coordinate, double current, double min_gain,
             std::function<double(double)> gain, std::function<bool(double)> allowed)
      : coordinate_(coordinate),
        gain_(std::move(gain)),
        allowed_(std::move(allowed)),
        best_(current),
        min_gain_(min_gain),
        needed_(1 + min_gain) {}

  double best() {
    for (const double value : coordinate_.values) {
      if (value != best_ && allowed_(value)) consider(value);
    }
    if (coordinate_.kind == Coordinate::Kind::kContinuous) {
      try_grid();
      refine();
    }
    return best_;
  }

 private:
  void consider(double x) {
    const double gain = gain_(x);
    if (!(gain > needed_)) return;
    best_ = x;
    best_gain_ = gain;
    needed_ = gain;
  }

  void try_grid() {
    bool before = false;
    for (int i = 0; i <= kGrid; ++i) {
      const double x = -1 + 2.0 * i / kGrid;
      const bool now = allowed_(x);
      if (i > 0 && now != before)
        consider(edge(now ? x - 2.0 / kGrid : x, now ? x : x - 2.0 / kGrid));
      if (now) consider(x);
      before = now;
    }
  }

  double edge(double outside, double inside) const {
    for (int i = 0; i < kBisections; ++i) {
      const double middle = (outside + inside) / 2;
      (allowed_(middle) ? inside : outside) = middle;
    }
    return inside;
  }

  void refine() {
    double h = 2.0 / kGrid;
    for (int step = 0; step < kParabolas; ++step, h /= 8) {
      const double before = best_gain_;
      const double below = gain_(best_ - h);
      const double above = gain_(best_ + h);
      const double curvature = above - 2 * before + below;
      if (!(curvature < 0)) return;
      const double move = std::clamp(0.5 * h * (below - above) / curvature, -h, h);
      const double x = std::clamp(best_ + move, -1.0, 1.0);
      if (x != best_ && allowed_(x)) consider(x);
      if (best_gain_ < before + min_gain_) return;
    }
  }

  const Coordinate& coordinate_;
  std::function<double(double)> gain_;
  std::function<bool(double)> allowed_;
  double best_;
  double best_gain_ = 1;
  double min_gain_;
  double needed_;  ///< gain required of a better setting
};

}  // namespace

std::vector<int> whole_plot_sizes(int runs, int whole_plots) {
  std::vector<int> sizes(static_cast<std::size_t>(whole_plots), runs / whole_plots);
  for (int i = 0; i < runs % whole_plots; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

Eigen::MatrixXd whole_plot_information(const Eigen::MatrixXd& rows, double variance_ratio) {
  const double c = shared_weight(variance_ratio, rows.rows());
  const Eigen::RowVectorXd sum = rows.colwise().sum();
  return rows.transpose() * rows - c * sum.transpose() * sum;
}

SplitPlotExchange::SplitPlotExchange(const SplitPlotProblem& problem, Eigen::MatrixXd design,
                                     double ridge)
    : problem_(problem), design_(std::move(design)) {
  for (std::size_t plot = 0; plot < problem.sizes.size(); ++plot) {
    first_runs_.push_back(static_cast<int>(plots_.size()));
    plots_.insert(plots_.end(), static_cast<std::size_t>(problem.sizes[plot]),
                  static_cast<int>(plot));
  }
  rows_.resize(design_.rows(), problem.exchange.space.column_count());
  for (Eigen::Index i = 0; i < design_.rows(); ++i) {
    rows_.row(i) = problem.exchange.space.row(design_.row(i).transpose());
  }
  information_ = problem.exchange.base;
  information_.diagonal().array() += ridge;
  // The sum of the whole plots' information, as two matrix products.
  Eigen::MatrixXd sums(problem.sizes.size(), rows_.cols());
  for (int plot = 0; plot < static_cast<int>(problem.sizes.size()); ++plot) {
    const double c = shared_weight(problem.variance_ratio, size(plot));
    sums.row(plot) = std::sqrt(c) * rows_.middleRows(first_run(plot), size(plot)).colwise().sum();
  }
  information_.noalias() += rows_.transpose() * rows_;
  information_.noalias() -= sums.transpose() * sums;
  refresh();
}

Eigen::MatrixXd SplitPlotExchange::information_of(int plot) const {
  return whole_plot_information(rows_.middleRows(first_run(plot), size(plot)),
                                problem_.variance_ratio);
}

void SplitPlotExchange::refresh() {
  value_ = information_value(problem_.exchange, information_);
  v_.resize(0, 0);
}

void SplitPlotExchange::invert() const {
  if (v_.size() > 0) return;
  const ExchangeProblem& exchange = problem_.exchange;
  const Eigen::Index p = information_.rows();
  v_ = information_.llt().solve(Eigen::MatrixXd::Identity(p, p));
  if (exchange.criterion != ExactCriterion::kDeterminant) b_ = v_ * exchange.weight * v_;
}

SplitPlotExchange::RunLine::RunLine(const SplitPlotExchange& exchange, int run, int coordinate)
    : coordinate_(exchange.problem_.exchange.space.coordinates()[coordinate]),
      columns_(exchange.problem_.exchange.space.column_count()),
      share_(determinant_weight(exchange.problem_.exchange)),
      total_(0) {
  exchange.invert();
  if (share_ < 1) total_ = exchange.v_.cwiseProduct(exchange.problem_.exchange.weight).sum();
  const SearchSpace& space = exchange.problem_.exchange.space;
  const int plot = exchange.plots_[run];
  const int m = exchange.size(plot);
  const double c = shared_weight(exchange.problem_.variance_ratio, m);
  const double now = exchange.design_(run, coordinate);
  const Eigen::VectorXd slots = space.features(exchange.design_.row(run).transpose());
  Eigen::MatrixXd h = Eigen::MatrixXd::Zero(space.column_count(), coordinate_.features + 1);
  for (int a = 0; a < coordinate_.features; ++a) {
    for (std::size_t i = 0; i < coordinate_.columns[a].size(); ++i) {
      double product = 1;
      for (const int slot : coordinate_.others[a][i]) product *= slots[slot];
      h(coordinate_.columns[a][i], a + 1) = product;
    }
  }
  present_ = features(now);
  const Eigen::VectorXd row = exchange.rows_.row(run).transpose();
  h.col(0) = row - h.rightCols(coordinate_.features) * present_.tail(coordinate_.features);
  const Eigen::VectorXd sum =
      exchange.rows_.middleRows(exchange.first_run(plot), m).colwise().sum().transpose();
  h.col(0) -= c / (1 - c) * (sum - row);
  h *= std::sqrt(1 - c);
  form_ = h.transpose() * (exchange.v_ * h);
  if (share_ < 1) form_b_ = h.transpose() * (exchange.b_ * h);
}

SplitPlotExchange::RunLine::Features SplitPlotExchange::RunLine::features(double x) const {
  Features phi(coordinate_.features + 1);
  phi[0] = 1;
  for (int a = 0; a < coordinate_.features; ++a) phi[a + 1] = coordinate_.feature(a, x);
  return phi;
}

double SplitPlotExchange::RunLine::gain(double x) const {
  const Features phi = features(x);
  const Features now = form_ * present_;
  const double a = phi.dot(form_ * phi);
  const double b = present_.dot(now);
  const double ab = phi.dot(now);
  const double determinant = (1 + a) * (1 - b) + ab * ab;
  if (share_ == 1) return determinant;
  if (!(determinant > 1e-12)) return 0;
  // The trace, by Woodbury's formula for M + h h' - h0 h0'.
  const double ta = phi.dot(form_b_ * phi);
  const double tb = present_.dot(form_b_ * present_);
  const double tab = phi.dot(form_b_ * present_);
  const double fall = ((1 - b) * ta + 2 * ab * tab - (1 + a) * tb) / determinant;
  const double trace = total_ / (total_ - fall);
  if (share_ == 0 || !(trace > 0)) return trace;
  return std::pow(determinant, share_ / columns_) * std::pow(trace, 1 - share_);
}

bool SplitPlotExchange::improve(double min_gain, const std::function<bool()>& stop) {
  bool moved = false;
  const auto& coordinates = problem_.exchange.space.coordinates();
  for (int plot = 0; plot < static_cast<int>(problem_.sizes.size()); ++plot) {
    for (int c = 0; c < static_cast<int>(coordinates.size()) && !stop(); ++c) {
      if (coordinates[c].features == 0 || !value_) continue;
      if (problem_.hard[c]) {
        moved |= improve_plot(plot, c, min_gain, stop);
        continue;
      }
      for (int i = 0; i < size(plot) && value_ && !stop(); ++i) {
        moved |= improve_run(first_run(plot) + i, c, min_gain);
      }
    }
  }
  return moved;
}

bool SplitPlotExchange::improve_plot(int plot, int coordinate, double min_gain,
                                     const std::function<bool()>& stop) {
  const SearchSpace& space = problem_.exchange.space;
  const double current = design_(first_run(plot), coordinate);
  const auto allowed = [&](double x) {
    for (int i = 0; i < size(plot) && !space.is_box(); ++i) {
      Eigen::VectorXd point = design_.row(first_run(plot) + i).transpose();
      point[coordinate] = x;
      if (!space.allows(point)) return false;
    }
    return true;
  };
  const double ratio = problem_.variance_ratio;
  Eigen::MatrixXd rows = rows_.middleRows(first_run(plot), size(plot));
  const Eigen::MatrixXd others = information_ - information_of(plot);
  Eigen::MatrixXd points = design_.middleRows(first_run(plot), size(plot));
  const auto gain = [&](double x) {
    if (stop()) return 0.0;
    points.col(coordinate).setConstant(x);
    for (int i = 0; i < size(plot); ++i) rows.row(i) = space.row(points.row(i).transpose());
    const auto value =
        information_value(problem_.exchange, others + whole_plot_information(rows, ratio));
    return value ? std::exp(*value - *value_) : 0.0;
  };
  const double best =
      LineSearch(space.coordinates()[coordinate], current, min_gain, gain, allowed).best();
  if (best == current) return false;
  for (int i = first_run(plot); i < first_run(plot) + size(plot); ++i) {
    design_(i, coordinate) = best;
    rows_.row(i) = space.row(design_.row(i).transpose());
  }
  information_ = others + information_of(plot);
  refresh();
  return true;
}

bool SplitPlotExchange::improve_run(int run, int coordinate, double min_gain) {
  const SearchSpace& space = problem_.exchange.space;
  const double current = design_(run, coordinate);
  const auto allowed = [&](double x) {
    Eigen::VectorXd point = design_.row(run).transpose();
    point[coordinate] = x;
    return space.allows(point);
  };
  const RunLine line(*this, run, coordinate);
  const auto gain = [&](double x) { return line.gain(x); };
  const double best =
      LineSearch(space.coordinates()[coordinate], current, min_gain, gain, allowed).best();
  if (best == current) return false;
  information_ -= information_of(plots_[run]);
  design_(run, coordinate) = best;
  rows_.row(run) = space.row(design_.row(run).transpose());
  information_ += information_of(plots_[run]);
  refresh();
  return true;
}

}  // namespace doetune::doe
