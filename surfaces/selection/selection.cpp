#include "surfaces/selection/selection.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/selection/subset_scores.h"

namespace doetune::surfaces {
namespace {

constexpr double kNear = 2;
constexpr std::size_t kMaxNear = 100;
constexpr long kMaxWholePlotModels = 20'000;
constexpr std::uint64_t kSelectionSeed = 1;  // fixed, so that results are reproducible
constexpr std::uint64_t kRandomStarts = 10;
constexpr int kShakes = 4;
constexpr const char* kWarning =
    "the terms were selected with the same runs that test them, so p-values and intervals are "
    "optimistic; confirmation runs are not affected";

/// The order of models: by AICc, then by size, then by the one with earlier terms.
std::tuple<double, long, Subset> rank_of(const Subset& in, double aicc) {
  constexpr double kEqual = 1e-9;
  Subset missing = in;
  missing.flip();
  return {std::round(aicc / kEqual), std::count(in.begin(), in.end(), true), std::move(missing)};
}

/// The number of models compared, and the models near the best AICc.
class SubsetComparison {
 public:
  void add(const Subset& in, double aicc) {
    ++compared_;
    if (aicc > min_ + kNear) return;
    near_[in] = aicc;
    if (aicc >= min_) return;
    min_ = aicc;
    std::erase_if(near_, [&](const auto& entry) { return entry.second > min_ + kNear; });
  }

  long compared() const { return compared_; }

  /// Best first.
  std::vector<std::pair<Subset, double>> near() const {
    std::vector<std::pair<Subset, double>> sorted(near_.begin(), near_.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return rank_of(a.first, a.second) < rank_of(b.first, b.second);
    });
    return sorted;
  }

 private:
  std::map<Subset, double> near_;
  double min_ = std::numeric_limits<double>::infinity();
  long compared_ = 0;
};

/// A model on the path to the selected one.
struct Stage {
  Subset in;
  double aicc = 0;
  std::size_t changed = 0;  ///< the term that was added or removed
};

class Search {
 public:
  Search(const HereditaryTerms& terms, const SubsetScores& scores, SubsetComparison& comparison)
      : terms_(terms), scores_(scores), comparison_(comparison) {}

  /// Stepwise path from `start`, which must have an AICc, by the best single change while it
  /// improves.
  std::vector<Stage> path(const Stage& start, bool entering) const {
    std::vector<Stage> stages{start};
    while (true) {
      const Stage& last = stages.back();
      std::optional<Stage> next;
      for (std::size_t at = 0; at < terms_.count(); ++at) {
        if (last.in[at] == entering) continue;
        if (entering ? !terms_.may_enter(at, last.in) : !terms_.may_leave(at, last.in)) continue;
        consider(last, changed(at, last.in), at, next);
      }
      if (!next) return stages;
      stages.push_back(*next);
    }
  }

  /// Improves by adding or removing any term, together with those that heredity requires, or
  /// (`pairs`) two in succession, while that improves AICc.
  Stage improved(Stage stage, bool pairs) const {
    while (true) {
      std::optional<Stage> next;
      for (std::size_t a = 0; a < terms_.count(); ++a) {
        const Subset once = changed(a, stage.in);
        consider(stage, once, a, next);
        for (std::size_t b = 0; pairs && b < terms_.count(); ++b) {
          if (a != b) consider(stage, changed(b, once), a, next);
        }
      }
      if (!next) return stage;
      stage = *next;
    }
  }

  /// The model with some terms changed at random; empty if it has no AICc.
  std::optional<Stage> shaken(Stage stage, RandomStream& random) const {
    for (int change = 0; change < kShakes; ++change) {
      stage.in = changed(random.below(terms_.count()), stage.in);
    }
    const std::optional<double> aicc = scores_.aicc(stage.in);
    if (!aicc) return std::nullopt;
    return Stage{stage.in, *aicc};
  }

 private:
  Subset changed(std::size_t at, const Subset& in) const {
    return in[at] ? terms_.left(at, in) : terms_.entered(at, in);
  }

  void consider(const Stage& from, const Subset& in, std::size_t at,
                std::optional<Stage>& best) const {
    const std::optional<double> aicc = scores_.aicc(in);
    if (!aicc) return;
    comparison_.add(in, *aicc);
    const Stage& rival = best ? *best : from;
    if (rank_of(in, *aicc) < rank_of(rival.in, rival.aicc)) best = Stage{in, *aicc, at};
  }

  const HereditaryTerms& terms_;
  const SubsetScores& scores_;
  SubsetComparison& comparison_;
};

/// The p-value of the hypothesis that all coefficients of a term are 0.
std::optional<double> term_p_value(const Fit& fit, const doe::Term& term) {
  const auto& terms = fit.model.terms();
  const auto at = std::find(terms.begin(), terms.end(), term) - terms.begin();
  const std::vector<int> columns = fit.model.columns_of(static_cast<int>(at));
  if (columns.size() == 1) return fit.coefficients[columns[0]].p;
  if (!fit.sigma || *fit.sigma == 0) return std::nullopt;
  const auto l = static_cast<double>(columns.size());
  if (fit.split_plot) {
    const Eigen::MatrixXd all = Eigen::MatrixXd::Identity(fit.beta.size(), fit.beta.size());
    return fit.split_plot->errors
        .test(all(columns, Eigen::all), fit.beta, fit.split_plot->run_variance)
        .p;
  }
  const Eigen::VectorXd b = fit.beta(columns);
  const Eigen::MatrixXd covariance = fit.unscaled_covariance(columns, columns);
  const double f = b.dot(covariance.llt().solve(b)) / (l * *fit.sigma * *fit.sigma);
  return f_p_value(f, l, fit.df_residual);
}

/// The data of one selection.
class Selector {
 public:
  Selector(const doe::Model& largest, const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
           const SelectionOptions& options)
      : largest_(largest),
        coded_(coded),
        y_(y),
        options_(options),
        terms_(largest, options.heredity),
        mean_(fit_of(Subset(terms_.count(), false))),
        scores_(closed_form() ? scores_by_cross_products(largest, terms_, mean_)
                              : scores_by_fits(largest, terms_, mean_, options.fit)),
        search_(terms_, *scores_, comparison_) {}

  Selection select() {
    Selection selection;
    selection.warning = kWarning;
    Stage chosen;
    if (options_.method == SelectionMethod::kBestSubset) {
      chosen = best_subset(selection.exhaustive);
    } else {
      const bool forward = options_.method == SelectionMethod::kForward;
      const std::vector<Stage> path = forward ? forward_path() : backward_path();
      selection.steps = steps_of(path, forward);
      chosen = path.back();
    }
    selection.fit = fit_of(chosen.in);
    selection.models_compared = comparison_.compared();
    selection.near_best = near_best();
    return selection;
  }

 private:
  /// Whether AICc is available without fitting each model.
  bool closed_form() const {
    const FitOptions& fit = options_.fit;
    return fit.whole_plots.empty() && fit.weights.size() == 0 && !fit.variance;
  }

  Fit fit_of(const Subset& in) const {
    return fit_least_squares(model_of(largest_, terms_, in), coded_, y_, options_.fit);
  }

  Stage start(bool full) {
    const Subset in(terms_.count(), full);
    const Fit fit = full ? fit_of(in) : mean_;  // throws for aliased terms, by name
    const std::optional<double> aicc = scores_->aicc(in);
    if (aicc) {
      comparison_.add(in, *aicc);
      return {in, *aicc};
    }
    throw FitError(
        fmt::format("AICc is undefined for {} runs and {} coefficients: it needs {} runs more than "
                    "coefficients{}",
                    fit.n, fit.n - fit.df_residual, fit.split_plot ? "four" : "three",
                    full ? "; use forward selection" : ""));
  }

  std::vector<Stage> forward_path() { return search_.path(start(false), true); }
  std::vector<Stage> backward_path() { return search_.path(start(true), false); }

  Stage best_subset(bool& exhaustive) {
    start(false);
    const long max_subsets =
        closed_form() ? options_.max_models : std::min(options_.max_models, kMaxWholePlotModels);
    exhaustive = terms_.subset_count(max_subsets) <= max_subsets;
    if (!exhaustive) return searched();
    comparison_ = {};
    scores_->for_each([&](const Subset& in, double aicc) { comparison_.add(in, aicc); });
    const auto [in, aicc] = comparison_.near().front();
    return {in, aicc};
  }

  Stage searched() {
    const bool quick = closed_form();
    Stage best = search_.improved(forward_path().back(), quick);
    const auto consider = [&](const Stage& start) {
      const Stage other = search_.improved(start, quick);
      if (rank_of(other.in, other.aicc) < rank_of(best.in, best.aicc)) best = other;
    };
    if (scores_->aicc(Subset(terms_.count(), true))) consider(backward_path().back());
    for (std::uint64_t start = 0; quick && start < kRandomStarts; ++start) {
      RandomStream random(kSelectionSeed, start);
      if (const auto stage = search_.shaken(best, random)) consider(*stage);
    }
    return best;
  }

  std::vector<SelectionStep> steps_of(const std::vector<Stage>& path, bool entered) const {
    std::vector<SelectionStep> steps;
    for (std::size_t i = 1; i < path.size(); ++i) {
      const doe::Term& term = largest_.terms()[terms_.term(path[i].changed)];
      const Fit with_term = fit_of(path[entered ? i : i - 1].in);
      steps.push_back({doe::term_name(term, largest_.factors()), entered, path[i].aicc,
                       term_p_value(with_term, term)});
    }
    return steps;
  }

  std::vector<NearModel> near_best() const {
    std::vector<NearModel> models;
    double sum = 0;
    for (const auto& [in, aicc] : comparison_.near()) {
      if (models.size() == kMaxNear) break;
      models.push_back({model_of(largest_, terms_, in).term_names(), aicc, 0});
      models.back().weight = std::exp((models.front().aicc - aicc) / 2);
      sum += models.back().weight;
    }
    for (NearModel& model : models) model.weight /= sum;
    return models;
  }

  const doe::Model& largest_;
  const Eigen::MatrixXd& coded_;
  const Eigen::VectorXd& y_;
  const SelectionOptions& options_;
  HereditaryTerms terms_;
  Fit mean_;
  std::unique_ptr<SubsetScores> scores_;
  SubsetComparison comparison_;
  Search search_;
};

}  // namespace

Selection select_model(const doe::Model& largest, const Eigen::MatrixXd& coded,
                       const Eigen::VectorXd& y, const SelectionOptions& options) {
  if (options.method == SelectionMethod::kNone) throw std::invalid_argument("no method");
  const std::vector<doe::Term>& terms = largest.terms();
  if (std::none_of(terms.begin(), terms.end(),
                   [](const auto& term) { return term.order() == 0; })) {
    throw FitError("the selection of terms needs the term 1 in the model; it is always kept");
  }
  if (options.fit.loss != Loss::kSquares) {
    throw FitError(
        "terms are selected by AICc, which a robust loss does not have: use least squares, or fit "
        "the whole model robustly");
  }
  return Selector(largest, coded, y, options).select();
}

}  // namespace doetune::surfaces
