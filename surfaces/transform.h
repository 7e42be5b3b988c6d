// Transforms of a response that stabilise its error variance and improve the fit of a surface.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doe/response.h"

namespace doetune::surfaces {

/// z = y, ln y, sqrt y, 1 / y, ln(y / (1 - y)) of a fraction, (y^lambda - 1) / lambda.
/// Source of the power: Box & Cox (1964), JRSS B 26, 211.
struct Transform {
  using Kind = doe::TransformType;

  Kind kind = Kind::kNone;
  double lambda = 1;  ///< of a power, not 0

  static const Transform kNone, kLog, kSqrt, kInverse, kLogit;

  /// ln y for lambda 0.
  static Transform power(double lambda);

  /// Whether z decreases with y.
  bool is_decreasing() const { return kind == Kind::kInverse; }

  bool operator==(const Transform&) const = default;
};

inline constexpr Transform Transform::kNone{Kind::kNone, 1};
inline constexpr Transform Transform::kLog{Kind::kLog, 1};
inline constexpr Transform Transform::kSqrt{Kind::kSqrt, 1};
inline constexpr Transform Transform::kInverse{Kind::kInverse, 1};
inline constexpr Transform Transform::kLogit{Kind::kLogit, 1};

/// "none", "log", "sqrt", "inverse", "logit", "power(0.3)".
std::string transform_name(const Transform& transform);

/// All except powers.
std::vector<std::string> transform_names();

/// Throws std::invalid_argument, suggesting the nearest valid name.
Transform transform_from_name(std::string_view name);

/// Whether y is in the domain: any y, y > 0, y >= 0, y > 0, 0 < y < 1, y > 0.
bool has_value(const Transform& transform, double y);

/// Throws std::domain_error for a y outside the transform's domain.
double transformed(const Transform& transform, double y);

/// The same, but clamps y to the domain: z may then be infinite (log: -infinity for y <= 0).
double transformed_or_end(const Transform& transform, double y);

/// dz/dy at a y inside the domain: to first order, the factor by which an error of y is larger on
/// the scale of z (delta method).
double transform_slope(const Transform& transform, double y);

/// The inverse. A z outside the transform's range (sqrt: z < 0, inverse: z <= 0, power: beyond -1 /
/// lambda) gives the limit of y: 0 or infinity.
double back_transformed(const Transform& transform, double z);

/// The range of z of all y > 0 (inverse: z > 0; power: z > -1 / lambda, or below it where lambda <
/// 0); of all y where the transform is defined for them, or for fractions. Ends may be infinite.
std::pair<double, double> image_of_positive(const Transform& transform);

/// The range of z that back_transformed maps into [low, high], either end possibly infinite: from
/// first to second; first > second if it is empty.
std::pair<double, double> transformed_range(const Transform& transform, double low, double high);

}  // namespace doetune::surfaces
