// model: auto. Which kind of surface predicts runs best that it has not seen.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "surfaces/fit.h"
#include "surfaces/models/parametric_model.h"
#include "surfaces/surface.h"

namespace doetune::surfaces {

/// A parametric model to be compared: never one that was not asked for.
struct ParametricRequest {
  ParametricModel model;
  std::string factor;   ///< the numeric factor x
  std::string by = {};  ///< a categorical factor with parameters of their own a level, or empty
};

struct ChoiceOptions {
  FitOptions fit = {};
  std::vector<ParametricRequest> parametric_models = {};
  int threads = 0;  ///< the result does not depend on it; 0: as many as the machine has
};

/// One kind of surface. What could not be compared has no loo_rms, and says why in `problem`.
struct SurfaceCandidate {
  std::string name;  ///< linear, interactions, quadratic, Gaussian process, or the model's
  std::shared_ptr<const Surface> surface;  ///< empty where it could not be fitted
  std::optional<double> loo_rms;           ///< root mean square of leave-one-out residuals
  std::optional<double> predicted_r2;      ///< 1 - their sum of squares / total about the mean
  std::optional<double> lack_of_fit_p;     ///< of a polynomial, where it can be tested
  std::string problem;
};

struct SurfaceChoice {
  std::vector<SurfaceCandidate> candidates;  ///< from the simplest to the least simple
  std::size_t chosen = 0;
  std::string reason;  ///< one sentence

  const SurfaceCandidate& best() const { return candidates[chosen]; }
};

/// Compares by leave-one-out, each run predicted from all others: the parametric models asked for;
/// the linear, interactions and quadratic models, where the runs determine them; and a Gaussian
/// process with constant mean (its correlation and noise those of all runs), where there are at
/// least 5 (k + 1) runs of k factors at no more than 1,000 points in a single block. (Loeppky,
/// Sacks & Welch, 2009, Technometrics 51, 366, advise 10 k; what too few runs cost, leave-one-out
/// shows.)
///
/// Chosen is the simplest whose squared residuals exceed those of the best by no more than one
/// standard error of the differences, run by run (the rule of Breiman et al., 1984, Classification
/// and Regression Trees, 3.4.3). The Gaussian process takes part only where the largest
/// polynomial's lack of fit is significant (p < 0.05) or cannot be tested. Residuals are on the
/// scale of the fit. Throws FitError, with each candidate's problem, if none can be fitted.
SurfaceChoice choose_surface(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                             const Eigen::VectorXd& y, const ChoiceOptions& options = {});

}  // namespace doetune::surfaces
