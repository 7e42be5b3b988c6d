#include "analysis/fit_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "analysis/blocks.h"
#include "analysis/trust.h"
#include "base/parallel.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/gaussian_process_posterior.h"
#include "surfaces/models/mixed_posterior.h"
#include "surfaces/models/parametric_posterior.h"
#include "surfaces/models/shrunken_posterior.h"
#include "surfaces/selection/estimable.h"
#include "surfaces/selection/sequential_models.h"

namespace doetune::analysis {
namespace {

using doe::SurfaceType, doe::VarianceType;
using surfaces::FitOptions;

/// The fit settings of the response, overridden by the options.
study::FitSettings settings_of(const study::Response& response, const AnalysisOptions& options) {
  study::FitSettings fit = response.fit;
  fit.surface = options.surface.value_or(fit.surface);
  fit.factor = options.parametric_factor.value_or(fit.factor);
  fit.selection = options.selection.value_or(fit.selection);
  fit.loss = options.loss.value_or(fit.loss);
  return fit;
}

/// The fit options that follow from the runs and the settings of the response.
FitOptions options_of(const ResponseRuns& runs, const study::FitSettings& settings) {
  FitOptions options;
  options.blocks = runs.blocks;
  options.whole_plots = runs.whole_plots;
  options.loss = settings.loss;
  options.settings = runs.settings;
  return options;
}

/// Fits one response in two steps, so that responses can share models between them.
class ResponseFit {
 public:
  ResponseFit(const study::Study& study, const study::Response& response, const ResponseRuns& runs,
              const AnalysisOptions& options)
      : study_(study),
        runs_(runs),
        settings_(settings_of(response, options)),
        model_name_(options.model.value_or(study.model_name)),
        model_(options.model ? doe::Model::named(*options.model, study.factors) : study.model),
        options_(options_of(runs, settings_)),
        transform_(options.transform.value_or(response.transform)),
        power_(options.power),
        result_{response, {}, "", runs.runs} {
    if (!options.model && !options.selection) consider_possible_terms();
  }

  /// First step: fits the polynomial.
  void fit() {
    if (runs_.runs.empty()) {
      result_.problem = "no completed run has measured it";
      return;
    }
    fall_back();
    try {
      choose_transform();
      model_variance();
      fit_polynomial();
    } catch (const surfaces::FitError& error) {
      result_.problem = error.what();
    }
  }

  /// Second step: diagnostics, and the surface used instead of the polynomial, if any. `models` are
  /// those of these runs, or null if there are none to share.
  ResponseAnalysis assessed(const surfaces::SequentialModels* models) {
    models_ = models;
    if (runs_.runs.empty()) return std::move(result_);
    try {
      if (result_.fit) assess();
    } catch (const surfaces::FitError& error) {
      result_.problem = error.what();
    }
    try {
      choose_surface();
    } catch (const std::exception& error) {
      if (!result_.problem.empty()) result_.problem += "; ";
      result_.problem += doe::word_of(settings_.surface) + ": " + error.what();
    }
    consider_process();
    result_.posterior = posterior();
    if (result_.fallback && result_.choice) result_.fallback->model = result_.choice->best().name;
    name_blocks();
    return std::move(result_);
  }

  /// Whether both responses can use the same sequential models.
  bool shares_models(const ResponseFit& other) const {
    const auto may = [](const ResponseFit& fit) {
      return !fit.runs_.runs.empty() && fit.settings_.variance == VarianceType::kConstant;
    };
    return may(*this) && may(other) && runs_.runs == other.runs_.runs &&
           runs_.blocks == other.runs_.blocks && runs_.whole_plots == other.runs_.whole_plots &&
           settings_.loss == other.settings_.loss;
  }

  /// Empty if these runs do not suit the options; fit() reports the reason. May run concurrently
  /// with fit().
  std::optional<surfaces::SequentialModels> models() const {
    try {
      return surfaces::SequentialModels(study_.factors, runs_.coded, options_of(runs_, settings_));
    } catch (const surfaces::FitError&) {
      return std::nullopt;
    }
  }

 private:
  /// A design for terms that may matter is made to find those that do, also of more terms than
  /// runs.
  void consider_possible_terms() {
    const std::vector<std::string>& possible = study_.design.options.possible;
    if (possible.empty() || settings_.selection != doe::SelectionMethod::kNone) return;
    model_ = model_.with(possible);
    settings_.selection = doe::SelectionMethod::kBestSubset;
  }

  /// Of the surface; null if it has none.
  std::shared_ptr<const surfaces::Posterior> posterior() const {
    if (const auto* process = dynamic_cast<const surfaces::GaussianProcess*>(result_.other.get())) {
      if (result_.choice) return surfaces::posterior_with_polynomial(*process, considered_);
      return std::make_shared<const surfaces::GaussianProcessPosterior>(*process);
    }
    if (const auto* fit = dynamic_cast<const surfaces::ParametricFit*>(result_.other.get())) {
      auto parametric = surfaces::ParametricPosterior::of(*fit, runs_.coded);
      if (!parametric) return nullptr;
      return std::make_shared<const surfaces::ParametricPosterior>(*std::move(parametric));
    }
    if (!result_.fit || result_.other) return nullptr;
    auto shrunken =
        surfaces::ShrunkenPosterior::of(*result_.fit, considered_, options_.whole_plots);
    if (!shrunken) return nullptr;
    return std::make_shared<const surfaces::ShrunkenPosterior>(*std::move(shrunken));
  }

  /// Replaces block numbers in texts by their names.
  void name_blocks() {
    result_.block_names = runs_.block_names;
    result_.problem = with_block_names(std::move(result_.problem), runs_.block_names);
    if (!result_.fit) return;
    for (surfaces::Coefficient& effect : result_.fit->block_effects) {
      effect.term = with_block_names(std::move(effect.term), runs_.block_names);
    }
  }

  /// If the runs do not determine the model, or leave none to estimate its error: the largest named
  /// one for which they suffice; if nothing was asked for that only this one has, whatever predicts
  /// best of those up to it and a Gaussian process. Selections that start from few terms need no
  /// smaller model, and a parametric model none at all. Terms that were listed, as many as runs,
  /// are tested without an estimate of the error (see effects.h).
  void fall_back() {
    const bool polynomial = settings_.surface == SurfaceType::kPolynomial;
    if (doe::is_parametric(settings_.surface)) return;
    const bool selects = settings_.selection != doe::SelectionMethod::kNone;
    if (selects && settings_.selection != doe::SelectionMethod::kBackward) return;
    const bool determined = is_determined(model_);
    const bool keeps = !polynomial || model_name_ == "listed" || leaves_error(model_);
    if (determined && keeps) return;
    std::string smaller = smaller_model(true);
    if (smaller.empty() && !determined) smaller = smaller_model(false);
    if (smaller.empty()) {
      fall_back_to_process();
      return;
    }
    if (polynomial) {
      result_.fallback = {smaller, reason_to_fall_back(determined)};
      const bool compares = !selects && settings_.loss == doe::Loss::kSquares &&
                            settings_.variance == VarianceType::kConstant;
      if (compares) settings_.surface = SurfaceType::kAuto;
    }
    wanted_ = std::exchange(model_, doe::Model::named(smaller, study_.factors));
  }

  /// No polynomial is determined where a level is in no run, a Gaussian process is: of the levels
  /// that are. It is fitted if the runs would suffice for a linear model.
  void fall_back_to_process() {
    const bool simple = settings_.surface == SurfaceType::kPolynomial &&
                        settings_.selection == doe::SelectionMethod::kNone &&
                        settings_.loss == doe::Loss::kSquares &&
                        settings_.variance == VarianceType::kConstant;
    const std::string level = level_without_run();
    if (!simple || level.empty() || !leaves_error(doe::Model::named("linear", study_.factors))) {
      return;
    }
    result_.fallback = {doe::word_of(SurfaceType::kGaussianProcess), level};
    settings_.surface = SurfaceType::kGaussianProcess;
  }

  /// "no completed run has the level 'int8' of p"; empty if there is none.
  std::string level_without_run() const {
    for (std::size_t f = 0; f < study_.factors.size(); ++f) {
      const doe::Factor& factor = study_.factors[f];
      const auto column = runs_.coded.col(static_cast<Eigen::Index>(f));
      for (std::size_t level = 0; level < factor.level_names.size(); ++level) {
        if ((column.array() == static_cast<double>(level)).any()) continue;
        return fmt::format("no completed run has the level '{}' of {}", factor.level_names[level],
                           factor.name);
      }
    }
    return "";
  }

  /// The largest named model that the runs determine and, if `with_error`, whose error they can
  /// estimate; empty if there is none.
  std::string smaller_model(bool with_error) const {
    for (const char* name : {"quadratic", "interactions", "linear"}) {
      const doe::Model smaller = doe::Model::named(name, study_.factors);
      if (is_determined(smaller) && (!with_error || leaves_error(smaller))) return name;
    }
    return "";
  }

  std::string reason_to_fall_back(bool determined) const {
    const std::size_t count = runs_.runs.size();
    return fmt::format("{} determine the {} coefficients of the {} model{}",
                       count == 1
                           ? "1 completed run does not"
                           : fmt::format("{} completed runs{}", count, determined ? "" : " do not"),
                       model_.column_count(), model_name_, determined ? ", but not its error" : "");
  }

  bool is_determined(const doe::Model& model) const {
    return surfaces::estimable_terms(model, runs_.coded, runs_.blocks).size() ==
           model.terms().size();
  }

  /// Whether runs are left to estimate the error of a model that they determine.
  bool leaves_error(const doe::Model& model) const {
    const std::set<int> blocks(runs_.blocks.begin(), runs_.blocks.end());
    const auto effects = std::max<std::size_t>(blocks.size(), 1) - 1;
    return runs_.runs.size() > static_cast<std::size_t>(model.column_count()) + effects;
  }

  void choose_transform() {
    if (runs_.y.size() > 0 && runs_.y.minCoeff() > 0) {
      try {
        result_.box_cox = surfaces::box_cox(model_, runs_.coded, runs_.y, options_);
      } catch (const std::exception&) {
        // fit() reports what is wrong with these runs.
      }
    }
    if (transform_ != doe::TransformType::kPower || power_) {
      options_.transform = {transform_, power_.value_or(1)};
      return;
    }
    if (!result_.box_cox) {
      throw surfaces::FitError(
          "transform box-cox needs responses above 0 that the model does not "
          "fit exactly");
    }
    options_.transform = result_.box_cox->suggestion;
  }

  void model_variance() {
    const auto groups = surfaces::replicate_variances(runs_.coded, transformed(), runs_.blocks);
    result_.constancy = surfaces::test_constancy(study_.factors, groups);
    if (settings_.variance == VarianceType::kConstant) return;
    const auto repeats = repeat_variances();
    if (repeats.empty()) {
      options_.variance = surfaces::fit_variance_model(study_.factors, groups);
    } else {
      learn_from_repeats(groups, repeats);
    }
  }

  /// Variances of single repeats, transformed to the scale of the fit by the delta method.
  std::vector<surfaces::GroupVariance> repeat_variances() const {
    std::vector<surfaces::GroupVariance> groups;
    for (std::size_t i = 0; i < runs_.repeats.size(); ++i) {
      const study::Repeats& repeats = runs_.repeats[i];
      if (repeats.count < 2) continue;
      const auto row = static_cast<Eigen::Index>(i);
      const double slope = surfaces::transform_slope(options_.transform, runs_.y[row]);
      groups.push_back(
          {runs_.coded.row(row).transpose(), slope * slope * repeats.variance, repeats.count - 1});
    }
    const bool vary = std::any_of(groups.begin(), groups.end(),
                                  [](const auto& group) { return group.variance > 0; });
    return vary ? groups : std::vector<surfaces::GroupVariance>{};
  }

  /// Uses repeats in the variance model only if they lower the AICc of the runs: variation within
  /// runs need not have the pattern of variation between runs. The level of the variance is
  /// estimated from the residuals in either case.
  void learn_from_repeats(const std::vector<surfaces::GroupVariance>& groups,
                          const std::vector<surfaces::GroupVariance>& repeats) {
    FitOptions with = options_;
    with.variance = surfaces::fit_variance_model(study_.factors, groups, repeats);
    const bool replicated = std::any_of(groups.begin(), groups.end(),
                                        [](const auto& group) { return group.variance > 0; });
    if (replicated) options_.variance = surfaces::fit_variance_model(study_.factors, groups);
    const auto before = surfaces::fit_least_squares(model_, runs_.coded, runs_.y, options_).aicc;
    const auto after = surfaces::fit_least_squares(model_, runs_.coded, runs_.y, with).aicc;
    result_.repeats_used = before && after && *after < *before;
    if (*result_.repeats_used) options_ = std::move(with);
  }

  void fit_polynomial() {
    considered_ = model_;
    if (settings_.selection == doe::SelectionMethod::kNone) {
      result_.fit = surfaces::fit_least_squares(model_, runs_.coded, runs_.y, options_);
      return;
    }
    result_.selection = surfaces::select_model(model_, runs_.coded, runs_.y,
                                               {.method = settings_.selection, .fit = options_});
    result_.fit = result_.selection->fit;
  }

  void assess() {
    const surfaces::Fit& fit = *result_.fit;
    FitDiagnostics& diagnostics = result_.diagnostics;
    diagnostics = {surfaces::run_influences(fit),
                   {},
                   surfaces::normality_test(fit),
                   surfaces::breusch_pagan_test(fit),
                   surfaces::shape_certainty(fit)};
    if (runs_.made_here) {
      const Eigen::VectorXi order = Eigen::Map<const Eigen::VectorXi>(runs_.runs.data(), fit.n);
      diagnostics.drift = surfaces::drift_test(fit, order.cast<double>());
    }
    result_.sequential =
        models_ ? models_->summary(runs_.y, options_.transform)
                : surfaces::sequential_summary(study_.factors, runs_.coded, runs_.y, options_);
  }

  void choose_surface() {
    if (settings_.surface == SurfaceType::kPolynomial) return;
    result_.kind = settings_.surface;
    if (settings_.surface == SurfaceType::kGaussianProcess) {
      const auto process =
          std::make_shared<surfaces::GaussianProcess>(surfaces::fit_gaussian_process(
              doe::Model::parse({"1"}, study_.factors), runs_.coded, runs_.y, runs_.censored,
              {.transform = options_.transform, .with_nugget = true}));
      result_.other = process;
      if (result_.fallback) result_.problem.clear();  // the reason of the fallback says it
      result_.censored_runs = runs_.censored_runs;
      result_.smooth = std::make_shared<surfaces::GaussianProcess>(process->smooth());
    } else if (settings_.surface == SurfaceType::kAuto) {
      compare();
    } else {
      const std::string factor = parametric_factor();
      result_.other = std::make_shared<surfaces::ParametricFit>(surfaces::fit_parametric_model(
          surfaces::parametric_model_named(doe::word_of(settings_.surface)), study_.factors, factor,
          runs_.coded, runs_.y, settings_.by, options_.transform));
    }
  }

  std::string parametric_factor() const {
    if (!settings_.factor.empty()) return settings_.factor;
    std::vector<std::string> numeric;
    for (const doe::Factor& factor : study_.factors) {
      if (!factor.is_categorical()) numeric.push_back(factor.name);
    }
    if (numeric.size() == 1) return numeric.front();
    throw surfaces::FitError(
        fmt::format("a parametric model has one numeric factor: name it with --surface-factor ({})",
                    fmt::join(numeric, ", ")));
  }

  /// Selects the simplest surface with competitive predictions; a polynomial replaces the fit.
  void compare() {
    result_.choice =
        surfaces::choose_surface(study_.factors, runs_.coded, runs_.y,
                                 {.fit = options_, .few_runs = result_.fallback.has_value()});
    considered_ = doe::Model::named("quadratic", study_.factors);
    const surfaces::SurfaceCandidate& best = result_.choice->best();
    const auto* polynomial = dynamic_cast<const surfaces::Fit*>(best.surface.get());
    if (polynomial == nullptr) {
      if (result_.fallback) considered_ = wanted_;
      result_.kind = SurfaceType::kGaussianProcess;
      result_.other = best.surface;
      return;
    }
    result_.kind = SurfaceType::kPolynomial;
    result_.fit = *polynomial;
    result_.problem.clear();
    assess();
  }

  /// Whether `auto` would choose a Gaussian process in place of a polynomial that does not predict
  /// well, one that is worth telling of.
  void consider_process() {
    constexpr std::size_t kMaxRuns = 200;  // it is fitted for this alone
    const bool polynomial = result_.fit && !result_.other && !result_.choice;
    if (!polynomial || runs_.runs.size() > kMaxRuns || settings_.loss != doe::Loss::kSquares)
      return;
    if (result_.fit->predicted_r2.value_or(1) >= kGoodPrediction) return;
    try {
      const auto choice =
          surfaces::choose_surface(study_.factors, runs_.coded, runs_.y, {.fit = options_});
      const surfaces::SurfaceCandidate& best = choice.best();
      const bool process =
          dynamic_cast<const surfaces::GaussianProcess*>(best.surface.get()) != nullptr;
      const double least = std::max(*result_.fit->predicted_r2, kPoorPrediction);
      if (process && best.predicted_r2.value_or(0) > least) result_.process_r2 = best.predicted_r2;
    } catch (const surfaces::FitError&) {
      // Then there is nothing better to tell of.
    }
  }

  /// The response values on the scale of the fit.
  Eigen::VectorXd transformed() const {
    return runs_.y.unaryExpr([this](double y) {
      try {
        return surfaces::transformed(options_.transform, y);
      } catch (const std::domain_error& error) {
        throw surfaces::FitError(error.what());
      }
    });
  }

  const study::Study& study_;
  const ResponseRuns& runs_;
  study::FitSettings settings_;
  std::string model_name_;
  doe::Model model_;
  doe::Model wanted_;      ///< with a fallback: the model that the runs do not determine
  doe::Model considered_;  ///< the largest from which the terms of the fit were chosen
  FitOptions options_;
  doe::TransformType transform_;
  std::optional<double> power_;
  const surfaces::SequentialModels* models_ = nullptr;
  ResponseAnalysis result_;
};

/// Groups of responses, by index, that can share sequential models.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<ResponseFit>& fits) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t r = 0; r < fits.size(); ++r) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return fits[group.front()].shares_models(fits[r]);
    });
    (same == groups.end() ? groups.emplace_back() : *same).push_back(r);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() == 1; });
  return groups;
}

}  // namespace

ResponseAnalysis fit_response(const study::Study& study, const study::Response& response,
                              const ResponseRuns& runs, const AnalysisOptions& options) {
  ResponseFit fit(study, response, runs, options);
  fit.fit();
  return fit.assessed(nullptr);
}

std::vector<ResponseAnalysis> fit_responses(const study::Study& study,
                                            const std::vector<ResponseRuns>& runs,
                                            const AnalysisOptions& options) {
  std::vector<ResponseFit> fits;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    fits.emplace_back(study, study.responses[r], runs[r], options);
  }
  const std::vector<std::vector<std::size_t>> groups = groups_of(fits);
  std::vector<std::optional<surfaces::SequentialModels>> models(groups.size());
  const auto shared = static_cast<int>(groups.size()), count = static_cast<int>(fits.size());
  parallel_for(shared + count, 0, [&](int job) {
    const auto j = static_cast<std::size_t>(job);
    if (job >= shared) return fits[j - groups.size()].fit();
    models[j] = fits[groups[j].front()].models();
  });
  std::vector<const surfaces::SequentialModels*> of_response(fits.size(), nullptr);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t r : groups[g]) of_response[r] = models[g] ? &*models[g] : nullptr;
  }
  std::vector<ResponseAnalysis> results(fits.size());
  parallel_for(count, 0, [&](int response) {
    const auto r = static_cast<std::size_t>(response);
    results[r] = fits[r].assessed(of_response[r]);
  });
  return results;
}

}  // namespace doetune::analysis
