#include "surfaces/selection/selection.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "surfaces/distributions.h"
#include "surfaces/selection/subset_scores.h"

namespace doetune::surfaces {
namespace {

constexpr double kNear = 2;
constexpr std::size_t kMostNear = 100;
constexpr long kMostWholePlotModels = 20'000;
constexpr const char* kWarning =
    "the terms were chosen by the same runs that they are tested with, so p-values and intervals "
    "are optimistic; runs that confirm the model are not";

/// The order of models: by AICc, of equal ones the smaller, then the one with the earlier terms.
std::tuple<double, long, Subset> rank_of(const Subset& in, double aicc) {
  constexpr double kEqual = 1e-9;
  Subset missing = in;
  missing.flip();
  return {std::round(aicc / kEqual), std::count(in.begin(), in.end(), true), std::move(missing)};
}

/// What was compared, and the models near the best of it.
class Comparison {
 public:
  void add(const Subset& in, double aicc) {
    ++compared_;
    if (aicc > least_ + kNear) return;
    near_[in] = aicc;
    if (aicc >= least_) return;
    least_ = aicc;
    std::erase_if(near_, [&](const auto& entry) { return entry.second > least_ + kNear; });
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
  double least_ = std::numeric_limits<double>::infinity();
  long compared_ = 0;
};

/// A model on the way to the chosen one.
struct Stage {
  Subset in;
  double aicc = 0;
  std::size_t changed = 0;  ///< the term that entered or left
};

class Search {
 public:
  Search(const HereditaryTerms& terms, const SubsetScores& scores, Comparison& comparison)
      : terms_(terms), scores_(scores), comparison_(comparison) {}

  /// From `start`, whose AICc exists, by the best single change as long as one is better.
  std::vector<Stage> path(const Stage& start, bool entering) const {
    std::vector<Stage> stages{start};
    while (true) {
      std::optional<Stage> next;
      for (std::size_t at = 0; at < terms_.count(); ++at) {
        if (may_change(at, stages.back().in, entering)) consider(stages.back(), {at}, next);
      }
      if (!next) return stages;
      stages.push_back(*next);
    }
  }

  /// By any change of one term, or exchange of two, as long as one is better.
  Stage improved(Stage stage) const {
    while (true) {
      std::optional<Stage> next;
      for (std::size_t a = 0; a < terms_.count(); ++a) {
        if (may_change(a, stage.in, !stage.in[a])) consider(stage, {a}, next);
        for (std::size_t b = 0; b < terms_.count(); ++b) {
          if (stage.in[a] && !stage.in[b] && may_exchange(a, b, stage.in)) {
            consider(stage, {a, b}, next);
          }
        }
      }
      if (!next) return stage;
      stage = *next;
    }
  }

 private:
  bool may_change(std::size_t at, const Subset& in, bool entering) const {
    if (in[at] == entering) return false;
    return entering ? terms_.may_enter(at, in) : terms_.may_leave(at, in);
  }

  bool may_exchange(std::size_t leaving, std::size_t entering, Subset in) const {
    if (!terms_.may_enter(entering, in)) return false;
    in[entering] = true;
    return terms_.may_leave(leaving, in);
  }

  void consider(const Stage& from, std::initializer_list<std::size_t> changes,
                std::optional<Stage>& best) const {
    Stage trial{from.in, 0, *changes.begin()};
    for (const std::size_t at : changes) trial.in[at] = !trial.in[at];
    const std::optional<double> aicc = scores_.aicc(trial.in);
    if (!aicc) return;
    trial.aicc = *aicc;
    comparison_.add(trial.in, *aicc);
    const Stage& rival = best ? *best : from;
    if (rank_of(trial.in, trial.aicc) < rank_of(rival.in, rival.aicc)) best = std::move(trial);
  }

  const HereditaryTerms& terms_;
  const SubsetScores& scores_;
  Comparison& comparison_;
};

/// That all coefficients of a term of the fit's model are 0.
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
        scores_(options.fit.whole_plots.empty()
                    ? scores_by_cross_products(largest, terms_, mean_)
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
  Fit fit_of(const Subset& in) const {
    return fit_least_squares(model_of(largest_, terms_, in), coded_, y_, options_.fit);
  }

  Stage start(bool full) {
    const Subset in(terms_.count(), full);
    const Fit fit = full ? fit_of(in) : mean_;  // of aliased terms it throws by name
    const std::optional<double> aicc = scores_->aicc(in);
    if (aicc) {
      comparison_.add(in, *aicc);
      return {in, *aicc};
    }
    throw FitError(fmt::format(
        "AICc does not exist for {} runs and {} coefficients: it needs {} runs more than "
        "coefficients{}",
        fit.n, fit.n - fit.df_residual, fit.split_plot ? "four" : "three",
        full ? "; choose the terms going forward" : ""));
  }

  std::vector<Stage> forward_path() { return search_.path(start(false), true); }
  std::vector<Stage> backward_path() { return search_.path(start(true), false); }

  Stage best_subset(bool& exhaustive) {
    start(false);
    const long most = options_.fit.whole_plots.empty()
                          ? options_.most_models
                          : std::min(options_.most_models, kMostWholePlotModels);
    exhaustive = terms_.subset_count(most) <= most;
    if (!exhaustive) return searched();
    comparison_ = {};
    scores_->for_each([&](const Subset& in, double aicc) { comparison_.add(in, aicc); });
    const auto [in, aicc] = comparison_.near().front();
    return {in, aicc};
  }

  Stage searched() {
    Stage best = search_.improved(forward_path().back());
    if (!scores_->aicc(Subset(terms_.count(), true))) return best;
    const Stage other = search_.improved(backward_path().back());
    return rank_of(other.in, other.aicc) < rank_of(best.in, best.aicc) ? other : best;
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
      if (models.size() == kMostNear) break;
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
  Comparison comparison_;
  Search search_;
};

}  // namespace

Selection select_model(const doe::Model& largest, const Eigen::MatrixXd& coded,
                       const Eigen::VectorXd& y, const SelectionOptions& options) {
  return Selector(largest, coded, y, options).select();
}

}  // namespace doetune::surfaces
