// Which terms of a model to keep.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/fit.h"

namespace doetune::surfaces {

using doe::SelectionMethod;

/// What a term needs in the model: of its parents, those terms of the largest model that have one
/// power less (of a*b: a and b; of a^2: a; of a^2*b: a*b and a^2), all or at least one.
/// Source: Chipman (1996), Canadian Journal of Statistics 24, 17-36.
enum class Heredity { kStrong, kWeak };

struct SelectionOptions {
  SelectionMethod method = SelectionMethod::kBestSubset;
  Heredity heredity = Heredity::kStrong;
  /// More models than that are not all compared: the best one is then searched for.
  long max_models = 4'000'000;
  FitOptions fit = {};
};

struct SelectionStep {
  std::string term;
  bool entered = false;     ///< or left
  double aicc = 0;          ///< of the model after the step
  std::optional<double> p;  ///< that the term is 0, in the model that has it
};

struct NearModel {
  std::vector<std::string> terms;
  double aicc = 0;
  double weight = 0;  ///< Akaike weight: exp(-aicc / 2) as a share of the sum over those listed
};

struct Selection {
  Fit fit;                           ///< of the model that was chosen
  std::vector<SelectionStep> steps;  ///< backward and forward, from the first model to the chosen
  /// The models, of those compared, with an AICc of up to 2 more than the least, best first; the
  /// first 100. A backward or forward choice need not be the best that it compared.
  std::vector<NearModel> near_best;
  long models_compared = 0;  ///< a search may count one twice
  bool exhaustive = false;   ///< every model that heredity allows was compared
  std::string warning;       ///< what the p-values of the fit are worth
};

/// Chooses among the models that are made of terms of `largest` and respect heredity, by the least
/// AICc (Fit::aicc). "1" and the blocks are always in; a term with categorical factors is in or out
/// as a whole. Models that the runs do not determine, or for which AICc does not exist, are left
/// out.
///
///   best subset  compares all models. Beyond max_models (with whole plots 20,000, whose
///   likelihood
///                has no closed form) the ends of forward and backward, and of ten random changes
///                of the best, are improved by changing one term or two, with those that heredity
///                ties to them, as long as that helps (with whole plots: the two ends, by one term)
///   forward      from "1" the term enters that lowers AICc most, as long as one does
///   backward     from `largest` the term leaves that lowers AICc most, as long as one does
///
/// Of models equal to 1e-9 the one with fewer terms is chosen, then the one with earlier terms.
/// Sources: Hurvich & Tsai (1989), Biometrika 76, 297; Burnham & Anderson (2002), Model Selection
/// and Multimodel Inference; all subsets by sweeping: Furnival & Wilson (1974), Technometrics 16,
/// 499.
///
/// Throws as fit_least_squares, and FitError where AICc does not exist: too few runs for "1", or
/// for `largest` going backward, or a model that fits the responses exactly; std::invalid_argument
/// for the method none.
Selection select_model(const doe::Model& largest, const Eigen::MatrixXd& coded,
                       const Eigen::VectorXd& y, const SelectionOptions& options = {});

}  // namespace doetune::surfaces
