// Values that several JSON documents hold.
#pragma once

#include <Eigen/Core>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "doe/factor.h"
#include "surfaces/surface.h"

namespace doetune::reports {

constexpr int kSchemaVersion = 1;

/// null where there is none, or it is not finite.
nlohmann::ordered_json number_json(const std::optional<double>& value);

/// [low, high], or null.
nlohmann::ordered_json interval_json(const std::optional<surfaces::Interval>& value);

nlohmann::ordered_json vector_json(const Eigen::VectorXd& values);

/// {"factor": setting}; levels by name.
nlohmann::ordered_json settings_json(const std::vector<doe::Factor>& factors,
                                     const std::vector<double>& settings);

}  // namespace doetune::reports
