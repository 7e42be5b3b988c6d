// Transforms of a response, so that a polynomial fits it and its error is even.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::surfaces {

/// z = y, ln y, sqrt y, 1 / y.
enum class Transform { kNone, kLog, kSqrt, kInverse };

std::string_view transform_name(Transform transform);
std::vector<std::string> transform_names();

/// Throws std::invalid_argument naming the nearest valid name.
Transform transform_from_name(std::string_view name);

/// Throws std::domain_error for a y that the transform has no value for.
double transformed(Transform transform, double y);

/// The reverse. A z outside the transform's range (sqrt: z < 0, inverse: z <= 0) gives the limit of
/// the range: 0 and infinity.
double back_transformed(Transform transform, double z);

}  // namespace doetune::surfaces
