// Runs for laws of one factor.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "surfaces/models/law.h"
#include "tests/doe/factors.h"

namespace doetune::tests {

/// One factor "x" over the range of the runs.
struct LawRuns {
  std::vector<doe::Factor> factors;
  Eigen::MatrixXd coded;
  Eigen::VectorXd x, y;

  LawRuns(const std::vector<double>& settings, const std::vector<double>& responses)
      : x(Eigen::VectorXd::Map(settings.data(), static_cast<Eigen::Index>(settings.size()))),
        y(Eigen::VectorXd::Map(responses.data(), static_cast<Eigen::Index>(responses.size()))) {
    factors = {continuous("x", x.minCoeff(), x.maxCoeff())};
    coded = x.unaryExpr([&](double natural) { return factors[0].to_coded(natural); });
  }

  surfaces::LawFit fit(const char* law,
                       const surfaces::Transform& transform = surfaces::Transform::kNone) const {
    return surfaces::fit_law(surfaces::law_named(law), factors, "x", coded, y, {}, transform);
  }
};

inline const surfaces::Transform kTransforms[] = {
    surfaces::Transform::kNone,      surfaces::Transform::kLog,   surfaces::Transform::kSqrt,
    surfaces::Transform::kInverse,   surfaces::Transform::kLogit, surfaces::Transform::power(0.3),
    surfaces::Transform::power(-0.5)};

/// Whether an estimate's interval holds the value.
inline bool covers(const surfaces::LawEstimate& row, double value) {
  return row.interval && row.interval->low <= value && value <= row.interval->high;
}

inline LawRuns runs_of(const char* law, const Eigen::VectorXd& parameters,
                       const std::vector<double>& x) {
  std::vector<double> y;
  for (const double at : x) y.push_back(surfaces::law_named(law).value(at, parameters, nullptr));
  return {x, y};
}

/// Rates of an enzymatic reaction with puromycin: R's data set Puromycin (Treloar 1974; Bates &
/// Watts 1988, A1.3).
inline const std::vector<double> kConcentrations{0.02, 0.02, 0.06, 0.06, 0.11, 0.11,
                                                 0.22, 0.22, 0.56, 0.56, 1.10, 1.10};
inline const std::vector<double> kTreated{76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200};

}  // namespace doetune::tests
