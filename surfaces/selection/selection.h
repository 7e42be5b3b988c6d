// Selection of model terms by AICc.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

using doe::SelectionMethod;

/// Which parents a term needs in the model, all or at least one; parents are the terms of the
/// largest model with one power less (of a*b: a and b; of a^2: a; of a^2*b: a*b and a^2). Source:
/// Chipman (1996), Canadian Journal of Statistics 24, 17-36.
enum class Heredity { kStrong, kWeak };

struct SelectionOptions {
  SelectionMethod method = SelectionMethod::kBestSubset;
  Heredity heredity = Heredity::kStrong;
  /// Above this number of models a heuristic search replaces the exhaustive one.
  long max_models = 4'000'000;
  FitOptions fit = {};
};

struct SelectionStep {
  std::string term;
  bool entered = false;     ///< otherwise it left
  double aicc = 0;          ///< of the model after the step
  std::optional<double> p;  ///< of the test that the term is 0, in the model that contains it
};

struct NearModel {
  std::vector<std::string> terms;
  double aicc = 0;
  double weight = 0;  ///< Akaike weight: exp(-aicc / 2), normalised over the models listed
};

struct Selection {
  Fit fit;                           ///< of the selected model
  std::vector<SelectionStep> steps;  ///< backward and forward, from the first model to the selected
                                     ///< one
  /// The compared models with an AICc within 2 of the minimum, best first; at most 100. A backward
  /// or forward selection need not be the best model compared.
  std::vector<NearModel> near_best;
  long models_compared = 0;  ///< a search may count a model twice
  bool exhaustive = false;   ///< every model that heredity allows was compared
  std::string warning;       ///< on the validity of the p-values of the fit
};

/// Selects among the models made of terms of `largest` that respect heredity, by minimum AICc
/// (Fit::aicc). "1" and the blocks are always included; a term with categorical factors is in or
/// out as a whole. Models that the runs do not determine, or without an AICc, are omitted.
///
///   best subset  compares all models. Beyond max_models (20,000 with whole plots, whose likelihood
///                has no closed form) the results of forward and backward, and of ten random
///                changes of the best, are improved by changing one or two terms, with those that
///                heredity requires, while that helps (with whole plots: only the first two, by
///                one term)
///   forward      starts from "1" and adds the term that lowers AICc most, while one does
///   backward     starts from `largest` and removes the term that lowers AICc most, while one does
///
/// Of models equal to 1e-9 the one with fewer terms is selected, then the one with earlier terms.
/// Sources: Hurvich & Tsai (1989), Biometrika 76, 297; Burnham & Anderson (2002), Model Selection
/// and Multimodel Inference; all subsets by sweeping: Furnival & Wilson (1974), Technometrics 16,
/// 499.
///
/// Throws like fit_least_squares, and FitError if AICc does not exist: too few runs for "1", or for
/// `largest` in backward selection, or a model that fits the responses exactly;
/// std::invalid_argument for the method none.
Selection select_model(const doe::Model& largest, const Eigen::MatrixXd& coded,
                       const Eigen::VectorXd& y, const SelectionOptions& options = {});

}  // namespace doetune::surfaces
