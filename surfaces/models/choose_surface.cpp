#include "surfaces/models/choose_surface.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/models/gaussian_process.h"

namespace doetune::surfaces {
namespace {

constexpr const char* kGaussianProcess = "Gaussian process";
constexpr std::size_t kMaxPoints = 1000;

/// The candidates so far, with the squared leave-one-out residuals of those that have them.
class SurfaceComparison {
 public:
  SurfaceComparison(const Eigen::VectorXd& y, Transform transform)
      : z_(transformed_responses(y, transform)),
        total_(without_rounding((z_.array() - z_.mean()).square().sum(), z_)) {}

  /// Adds a candidate with its leave-one-out residuals; empty if they do not exist.
  void add(SurfaceCandidate candidate, const std::optional<Eigen::VectorXd>& residuals) {
    Eigen::VectorXd losses;
    if (!residuals) {
      candidate.problem = "it is not determined when a run is left out";
    } else if (!residuals->allFinite()) {
      candidate.problem = "its prediction of a left-out run diverges";
    } else {
      losses = residuals->array().square();
      const double sum = without_rounding(losses.sum(), z_);
      if (sum == 0) losses.setZero();
      candidate.loo_rms = std::sqrt(sum / static_cast<double>(losses.size()));
      if (total_ > 0) candidate.predicted_r2 = 1 - sum / total_;
    }
    candidates.push_back(std::move(candidate));
    losses_.push_back(std::move(losses));
  }

  void add_problem(const std::string& name, const std::string& problem) {
    candidates.push_back({name, nullptr, {}, {}, {}, problem});
    losses_.emplace_back();
  }

  /// Whether one predicts no worse than the other by more than one standard error of the
  /// differences.
  bool is_as_good(std::size_t one, std::size_t other) const {
    const Eigen::ArrayXd differences = losses_[one] - losses_[other];
    const auto n = static_cast<double>(differences.size());
    const double mean = differences.mean();
    const double variance = (differences - mean).square().sum() / (n - 1);
    return mean <= std::sqrt(variance / n);
  }

  std::vector<SurfaceCandidate> candidates;

 private:
  Eigen::VectorXd z_;
  double total_;
  std::vector<Eigen::VectorXd> losses_;
};

void compare_parametric(SurfaceComparison& comparison, const ParametricRequest& request,
                        const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                        const Eigen::VectorXd& y, Transform transform) {
  try {
    auto fit = std::make_shared<ParametricFit>(fit_parametric_model(
        request.model, factors, request.factor, coded, y, request.by, transform));
    comparison.add({request.model.name, fit, {}, {}, {}, {}}, fit->loo_residuals);
  } catch (const FitError& error) {
    comparison.add_problem(request.model.name, error.what());
  }
}

void compare_polynomial(SurfaceComparison& comparison, const std::string& name,
                        const doe::Model& model, const Eigen::MatrixXd& coded,
                        const Eigen::VectorXd& y, const FitOptions& options) {
  try {
    auto fit = std::make_shared<Fit>(fit_least_squares(model, coded, y, options));
    SurfaceCandidate candidate{name, fit, {}, {}, {}, {}};
    if (fit->lack_of_fit) candidate.lack_of_fit_p = fit->lack_of_fit->p;
    std::optional<Eigen::VectorXd> residuals;
    if (fit->press) residuals = fit->residuals.array() / (1 - fit->leverage.array());
    comparison.add(std::move(candidate), residuals);
  } catch (const FitError& error) {
    comparison.add_problem(name, error.what());
  }
}

/// The reason why no Gaussian process is fitted; empty if one is.
std::string gaussian_process_problem(const std::vector<doe::Factor>& factors,
                                     const Eigen::MatrixXd& coded, const ChoiceOptions& choice) {
  const FitOptions& options = choice.fit;
  for (Eigen::Index f = 0; f < coded.cols(); ++f) {
    if (coded.col(f).minCoeff() < coded.col(f).maxCoeff()) continue;
    return fmt::format("factor '{}' does not vary", factors[static_cast<std::size_t>(f)].name);
  }
  const Eigen::Index min_runs = coded.cols() + 2;  // as the linear model, for it to be comparable
  if (!choice.few_runs && coded.rows() < min_runs) {
    return fmt::format("it needs {} runs for {} factors", min_runs, coded.cols());
  }
  if (block_count(options.blocks) > 1) return "it does not support blocks";
  if (!options.whole_plots.empty()) return "it does not support whole plots";
  if (options.weights.size() > 0 || options.variance) return "it does not support weights";
  std::set<std::vector<double>> points;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    const Eigen::RowVectorXd point = coded.row(i);
    points.emplace(point.begin(), point.end());
  }
  if (points.size() <= kMaxPoints) return "";
  return fmt::format("it takes too long with more than {} points", kMaxPoints);
}

void compare_gaussian_process(SurfaceComparison& comparison,
                              const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                              const Eigen::VectorXd& y, const ChoiceOptions& options) {
  const std::string problem = gaussian_process_problem(factors, coded, options);
  if (!problem.empty()) return comparison.add_problem(kGaussianProcess, problem);
  try {
    auto fit = std::make_shared<GaussianProcess>(
        fit_gaussian_process(doe::Model::parse({"1"}, factors), coded, y,
                             {.transform = options.fit.transform, .threads = options.threads}));
    comparison.add({kGaussianProcess, fit, {}, {}, {}, {}}, fit->loo_residuals);
  } catch (const FitError& error) {
    comparison.add_problem(kGaussianProcess, error.what());
  }
}

/// The most complex polynomial that was compared.
const SurfaceCandidate* largest_polynomial(const std::vector<SurfaceCandidate>& candidates) {
  const SurfaceCandidate* largest = nullptr;
  for (const SurfaceCandidate& candidate : candidates) {
    const bool polynomial = dynamic_cast<const Fit*>(candidate.surface.get()) != nullptr;
    if (polynomial && candidate.loo_rms) largest = &candidate;
  }
  return largest;
}

/// Whether there is no reason to consider more than polynomials.
bool polynomials_suffice(const SurfaceCandidate* largest) {
  return largest != nullptr && largest->lack_of_fit_p.value_or(0) >= kSignificant;
}

std::optional<std::size_t> lowest_rms(const std::vector<SurfaceCandidate>& candidates,
                                      bool without_process) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].loo_rms || (without_process && candidates[i].name == kGaussianProcess)) {
      continue;
    }
    if (!best || *candidates[i].loo_rms < *candidates[*best].loo_rms) best = i;
  }
  return best;
}

/// Chooses the first fitted candidate, if none can be compared.
SurfaceChoice uncompared(std::vector<SurfaceCandidate> candidates) {
  std::string problems;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].surface != nullptr) {
      std::string reason =
          candidates[i].name +
          " is the simplest that can be fitted, and no runs are left to compare surfaces";
      return {std::move(candidates), i, std::move(reason)};
    }
    problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", candidates[i].name,
                            candidates[i].problem);
  }
  throw FitError("no surface can be fitted to the runs: " + problems);
}

std::string reason_for(const std::vector<SurfaceCandidate>& candidates, std::size_t chosen,
                       std::size_t best, const SurfaceCandidate* largest) {
  const SurfaceCandidate& winner = candidates[chosen];
  std::string reason;
  if (chosen == best) {
    const bool process_is_better = candidates.back().loo_rms && &winner != &candidates.back() &&
                                   *candidates.back().loo_rms < *winner.loo_rms;
    reason =
        fmt::format("{} predicts left-out runs best{} (root mean square error {:.4g})", winner.name,
                    process_is_better ? " of the polynomials" : "", *winner.loo_rms);
  } else {
    reason = fmt::format(
        "{} is the simplest that predicts left-out runs within one standard error of the best, {} "
        "(root mean square error {:.4g} against {:.4g})",
        winner.name, candidates[best].name, *winner.loo_rms, *candidates[best].loo_rms);
  }
  const SurfaceCandidate& process = candidates.back();
  if (&winner == &process && largest != nullptr && largest->lack_of_fit_p) {
    reason += fmt::format(", and {} shows lack of fit (p = {:.2g})", largest->name,
                          *largest->lack_of_fit_p);
  }
  if (&winner != &process && polynomials_suffice(largest) && process.loo_rms &&
      *process.loo_rms < *winner.loo_rms) {
    reason += fmt::format("; the {} reaches {:.4g}, but {} shows no lack of fit (p = {:.2g})",
                          process.name, *process.loo_rms, largest->name, *largest->lack_of_fit_p);
  }
  return reason;
}

}  // namespace

SurfaceChoice choose_surface(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                             const Eigen::VectorXd& y, const ChoiceOptions& options) {
  if (options.fit.loss != Loss::kSquares) {
    throw FitError(
        "kinds of surfaces are compared by squared leave-one-out residuals: leave out "
        "the robust loss, or name the surface");
  }
  SurfaceComparison comparison(y, options.fit.transform);
  for (const ParametricRequest& request : options.parametric_models) {
    compare_parametric(comparison, request, factors, coded, y, options.fit.transform);
  }
  int columns = 0;
  for (const char* name : {"linear", "interactions", "quadratic"}) {
    const doe::Model model = doe::Model::named(name, factors);
    if (model.column_count() == columns) continue;
    columns = model.column_count();
    compare_polynomial(comparison, name, model, coded, y, options.fit);
  }
  compare_gaussian_process(comparison, factors, coded, y, options);

  std::vector<SurfaceCandidate>& candidates = comparison.candidates;
  const SurfaceCandidate* largest = largest_polynomial(candidates);
  const bool suffice = !options.few_runs && polynomials_suffice(largest);
  const std::optional<std::size_t> best = lowest_rms(candidates, suffice);
  if (!best) return uncompared(std::move(candidates));
  std::size_t chosen = options.few_runs ? *best : 0;
  while (!candidates[chosen].loo_rms || !comparison.is_as_good(chosen, *best)) ++chosen;
  std::string reason = reason_for(candidates, chosen, *best, largest);
  return {std::move(candidates), chosen, std::move(reason)};
}

}  // namespace doetune::surfaces
