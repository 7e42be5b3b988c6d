#include "surfaces/selection/sequential.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "surfaces/selection/estimable.h"
#include "surfaces/selection/sequential_models.h"

namespace doetune::surfaces {
namespace {

constexpr const char* kMeanModel = "mean";
constexpr const char* kSequence[] = {"linear", "interactions", "quadratic", "cubic"};

doe::Model mean_model(const std::vector<doe::Factor>& factors) {
  return doe::Model(factors, {doe::Term{std::vector<int>(factors.size(), 0)}});
}

bool contains(const std::vector<doe::Term>& terms, const doe::Term& term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

void set_fit(SequentialStep& step, const Fit& fit) {
  step.sigma = fit.sigma;
  step.r2 = fit.r2;
  step.adjusted_r2 = fit.adjusted_r2;
  step.predicted_r2 = fit.predicted_r2;
  step.press = fit.press;
  step.aicc = fit.aicc;
  if (fit.lack_of_fit) step.lack_of_fit_p = fit.lack_of_fit->p;
}

/// The added terms are the last part of the model, so their test is that of the fit.
void set_test(SequentialStep& step, const Fit& fit) {
  if (fit.split_plot) {
    if (fit.split_plot->tests.empty()) return;
    const PartTest& test = fit.split_plot->tests.back();
    step.df_error = test.df_error;
    step.f = test.f;
    step.p = test.p;
    return;
  }
  if (fit.anova.empty()) return;  // robust losses have none
  const auto residual = std::find_if(fit.anova.begin(), fit.anova.end(),
                                     [](const AnovaRow& row) { return row.source == "residual"; });
  const AnovaRow& part = *std::prev(residual);
  step.sum_of_squares = part.sum_of_squares;
  if (fit.df_residual > 0) step.df_error = fit.df_residual;
  step.f = part.f;
  step.p = part.p;
}

/// The terms of the named model that are not yet in `terms`; those the runs determine are added.
SequentialStep next_step(const doe::Model& named, std::vector<doe::Term>& terms,
                         const Eigen::MatrixXd& coded, const std::vector<int>& blocks) {
  SequentialStep step;
  const std::vector<doe::Term> before = terms;
  std::vector<doe::Term> all = before;
  for (const doe::Term& term : named.terms()) {
    if (!contains(before, term)) all.push_back(term);
  }
  terms = estimable_terms(doe::Model(named.factors(), all), coded, blocks);
  for (std::size_t t = before.size(); t < all.size(); ++t) {
    auto& list = contains(terms, all[t]) ? step.added : step.aliased;
    list.push_back(doe::term_name(all[t], named.factors()));
  }
  step.df = doe::Model(named.factors(), terms).column_count() -
            doe::Model(named.factors(), before).column_count();
  return step;
}

bool lacks_fit(const SequentialStep& step) {
  return step.lack_of_fit_p && *step.lack_of_fit_p < kSignificant;
}

/// Whether the order leaves no error at all, so that its terms cannot be tested, and the preceding
/// one does.
bool becomes_exact(const SequentialStep& step) {
  return step.sigma == 0.0 && step.sum_of_squares.value_or(0) > 0;
}

void suggest(SequentialSummary& summary) {
  std::vector<const SequentialStep*> candidates;
  for (const SequentialStep& step : summary.steps) {
    const bool significant = step.p ? *step.p < kSignificant : becomes_exact(step);
    if (step.model == kMeanModel || (significant && step.aliased.empty()))
      candidates.push_back(&step);
  }
  std::vector<const SequentialStep*> fitting = candidates;
  std::erase_if(fitting, [](const SequentialStep* step) { return lacks_fit(*step); });
  const bool all_lack_fit = fitting.empty();
  if (all_lack_fit) fitting = candidates;

  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const SequentialStep* best = fitting.front();
  bool guarded = false;
  for (const SequentialStep* step : fitting) {
    const bool below = step->predicted_r2.value_or(kNone) < best->predicted_r2.value_or(kNone);
    if (!below) best = step;
    guarded = below;
  }
  summary.suggested = best->model;
  if (best->model != kMeanModel && !best->p) {
    summary.reason = "the lowest order that fits the runs exactly";
  } else if (best->model != kMeanModel) {
    summary.reason = fmt::format(
        "the highest order whose terms are determined and significant (p = {:.2g})", *best->p);
  } else {
    summary.reason = candidates.size() == 1 ? "no order has significant terms"
                                            : "orders with significant terms show lack of fit";
  }
  if (guarded) summary.reason += ", without terms that make predictions of new runs worse";
  if (all_lack_fit) summary.reason += "; it shows lack of fit, as all orders do";
}

}  // namespace

SequentialModels::SequentialModels(const std::vector<doe::Factor>& factors,
                                   const Eigen::MatrixXd& coded, const FitOptions& options) {
  const doe::Model mean = mean_model(factors);
  std::vector<doe::Term> terms = mean.terms();
  SequentialStep first;
  first.model = kMeanModel;
  first.added = {"1"};
  first.df = 1;
  members_.push_back({std::move(first), LeastSquaresFits(mean, coded, options)});
  for (const char* name : kSequence) {
    SequentialStep step = next_step(doe::Model::named(name, factors), terms, coded, options.blocks);
    if (step.added.empty() && step.aliased.empty()) continue;
    step.model = name;
    members_.push_back({std::move(step), {}});
    if (members_.back().step.added.empty()) continue;
    members_.back().fits.emplace(doe::Model(factors, terms), coded, options);
  }
}

SequentialSummary SequentialModels::summary(const Eigen::VectorXd& y, Transform transform) const {
  SequentialSummary summary;
  for (const Member& member : members_) {
    SequentialStep& step = summary.steps.emplace_back(member.step);
    if (!member.fits) continue;
    try {
      const Fit fit = member.fits->fit(y, transform);
      set_fit(step, fit);
      if (step.model != kMeanModel) set_test(step, fit);
    } catch (const FitError& error) {
      if (step.model == kMeanModel) throw;
      step.problem = error.what();
    }
  }
  suggest(summary);
  return summary;
}

SequentialSummary sequential_summary(const std::vector<doe::Factor>& factors,
                                     const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
                                     const FitOptions& options) {
  return SequentialModels(factors, coded, options).summary(y, options.transform);
}

}  // namespace doetune::surfaces
