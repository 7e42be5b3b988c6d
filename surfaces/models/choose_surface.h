// model: auto. Chooses the kind of surface that best predicts unseen runs.
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

/// A parametric model to compare; only requested models take part.
struct ParametricRequest {
  ParametricModel model;
  std::string factor;   ///< the numeric factor x
  std::string by = {};  ///< a categorical factor whose levels have separate parameters, or empty
};

struct ChoiceOptions {
  FitOptions fit = {};
  std::vector<ParametricRequest> parametric_models = {};
  bool few_runs = false;  ///< the runs do not determine the model that is wanted
  int threads = 0;        ///< the result does not depend on it; 0: all hardware threads
};

/// One kind of surface. If it could not be compared, loo_rms is empty and `problem` gives the
/// reason.
struct SurfaceCandidate {
  std::string name;  ///< linear, interactions, quadratic, Gaussian process, or the model's
  std::shared_ptr<const Surface> surface;  ///< empty if it could not be fitted
  std::optional<double> loo_rms;           ///< root mean square of leave-one-out residuals
  std::optional<double> predicted_r2;      ///< 1 - their sum of squares / total about the mean
  std::optional<double> lack_of_fit_p;     ///< of a polynomial, if it can be tested
  std::string problem;
};

struct SurfaceChoice {
  std::vector<SurfaceCandidate> candidates;  ///< from the simplest to the most complex
  std::size_t chosen = 0;
  std::string reason;  ///< one sentence

  const SurfaceCandidate& best() const { return candidates[chosen]; }
};

/// Compares by leave-one-out prediction: the requested parametric models; the linear, interactions
/// and quadratic models if the runs determine them; and a Gaussian process with constant mean
/// (correlation and noise estimated from all runs) if there are at least k + 2 runs of k factors,
/// at no more than 1,000 points, in a single block. (Loeppky, Sacks & Welch, 2009, Technometrics
/// 51, 366, advise 10 runs a factor; leave-one-out shows the cost of fewer, and to leave the
/// process out costs more, see bench/coverage.)
///
/// Chooses the simplest candidate whose squared residuals exceed those of the best by no more than
/// one standard error of the run-by-run differences (one-standard-error rule of Breiman et al.,
/// 1984, Classification and Regression Trees, 3.4.3). The Gaussian process takes part only if the
/// largest polynomial's lack of fit is significant (p < 0.05) or cannot be tested. Residuals are on
/// the scale of the fit.
///
/// With `few_runs` the Gaussian process takes part in any case, and whatever predicts best is
/// chosen: a standard error of so few differences says little, and what the polynomials
/// leave out is more than noise. (Simulated in bench/coverage.) Throws FitError, with each
/// candidate's problem, if none can be fitted.
SurfaceChoice choose_surface(const std::vector<doe::Factor>& factors, const Eigen::MatrixXd& coded,
                             const Eigen::VectorXd& y, const ChoiceOptions& options = {});

}  // namespace doetune::surfaces
