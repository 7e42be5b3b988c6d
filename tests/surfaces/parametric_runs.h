// Data and helpers for the tests of parametric models.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "surfaces/models/parametric_model.h"
#include "tests/doe/factors.h"

namespace doetune::tests {

/// Runs of one factor "x", with the range of the data.
struct ParametricRuns {
  std::vector<doe::Factor> factors;
  Eigen::MatrixXd coded;
  Eigen::VectorXd x, y;

  ParametricRuns(const std::vector<double>& settings, const std::vector<double>& responses)
      : x(Eigen::VectorXd::Map(settings.data(), static_cast<Eigen::Index>(settings.size()))),
        y(Eigen::VectorXd::Map(responses.data(), static_cast<Eigen::Index>(responses.size()))) {
    factors = {continuous("x", x.minCoeff(), x.maxCoeff())};
    coded = x.unaryExpr([&](double natural) { return factors[0].to_coded(natural); });
  }

  surfaces::ParametricFit fit(const char* parametric, const surfaces::Transform& transform =
                                                          surfaces::Transform::kNone) const {
    return surfaces::fit_parametric_model(surfaces::parametric_model_named(parametric), factors,
                                          "x", coded, y, {}, transform);
  }
};

inline const surfaces::Transform kTransforms[] = {
    surfaces::Transform::kNone,      surfaces::Transform::kLog,   surfaces::Transform::kSqrt,
    surfaces::Transform::kInverse,   surfaces::Transform::kLogit, surfaces::Transform::power(0.3),
    surfaces::Transform::power(-0.5)};

/// Whether an estimate's interval contains the value.
inline bool covers(const surfaces::ParameterEstimate& row, double value) {
  return row.interval && row.interval->low <= value && value <= row.interval->high;
}

inline ParametricRuns runs_of(const char* parametric, const Eigen::VectorXd& parameters,
                              const std::vector<double>& x) {
  std::vector<double> y;
  for (const double at : x)
    y.push_back(surfaces::parametric_model_named(parametric).value(at, parameters, nullptr));
  return {x, y};
}

/// Rates of an enzymatic reaction with puromycin: R's data set Puromycin (Treloar 1974; Bates &
/// Watts 1988, A1.3).
inline const std::vector<double> kConcentrations{0.02, 0.02, 0.06, 0.06, 0.11, 0.11,
                                                 0.22, 0.22, 0.56, 0.56, 1.10, 1.10};
inline const std::vector<double> kTreated{76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200};

}  // namespace doetune::tests
