// The tests that findings rest on, corrected for how many are asked of a study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// The p-value of the hypothesis that no factor has an effect, by the F of the whole model; empty
/// if the fit has none.
std::optional<double> p_of_model(const surfaces::Fit& fit);

/// The same if no factor is shown to have an effect at this level, and the model does not lack fit,
/// which may hide one; else empty.
std::optional<double> p_without_effect(const surfaces::Fit& fit, double level);

/// The steps of the sequential tests whose model is larger than the fitted one.
std::vector<surfaces::SequentialStep> larger_steps(const ResponseAnalysis& response);

/// The p-values of the tests of a surface, whose findings are grave: of the model and lack of fit.
std::vector<double> surface_tests(const ResponseAnalysis& response);

/// The smallest p-value of outliers, after Bonferroni; empty if none can be tested.
std::optional<double> p_of_outliers(const ResponseAnalysis& response);

/// "; not significant among all tests of the study" of a p-value that is so only alone; else "".
std::string among_tests(double p, double level);

/// Those of its assumptions: outliers (the smallest, after Bonferroni), drift, spread, constancy
/// and larger models.
std::vector<double> assumption_tests(const ResponseAnalysis& response);

/// The level at which each of m tests is significant so that with probability 1 - level none is by
/// chance, whatever their correlation: with p_1 <= p_2 <= ... and r the number of leading tests
/// with p_i <= level / (m - i + 1), it is level / (m - r); `level` if all are significant. Source:
/// Holm (1979), Scandinavian Journal of Statistics 6, 65.
double holm_level(std::vector<double> p, double level);

/// Sets `levels` of every response from the tests of all of them.
void correct_for_tests(std::vector<ResponseAnalysis>& responses);

}  // namespace doetune::analysis
