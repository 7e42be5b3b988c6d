#include "surfaces/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/nearest_name.h"

namespace doetune::surfaces {
namespace {

using Kind = Transform::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::string_view kPower = "power(";

Transform power_from_name(std::string_view name) {
  double lambda = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + kPower.size(), end, lambda);
  if (error != std::errc() || std::string_view(rest, end) != ")" || !std::isfinite(lambda)) {
    throw std::invalid_argument(
        fmt::format("transform '{}': a power is written with its lambda, 'power(0.3)'", name));
  }
  return Transform::power(lambda);
}

/// Infinite if y is at an end of the transform's domain.
double value_of(const Transform& transform, double y) {
  switch (transform.kind) {
    case Kind::kLog:
      return std::log(y);
    case Kind::kSqrt:
      return std::sqrt(y);
    case Kind::kInverse:
      return 1 / y;
    case Kind::kLogit:
      return std::log(y) - std::log1p(-y);
    case Kind::kPower:
      return std::expm1(transform.lambda * std::log(y)) / transform.lambda;
    case Kind::kNone:
      break;
  }
  return y;
}

}  // namespace

Transform Transform::power(double lambda) {
  return lambda == 0 ? kLog : Transform{Kind::kPower, lambda};
}

std::string transform_name(const Transform& transform) {
  if (transform.kind == Kind::kPower) return fmt::format("{}{})", kPower, transform.lambda);
  return doe::word_of(transform.kind);
}

std::vector<std::string> transform_names() {
  std::vector<std::string> names = doe::words_of<Kind>();
  names.pop_back();
  return names;
}

Transform transform_from_name(std::string_view name) {
  if (name.starts_with(kPower)) return power_from_name(name);
  const auto kind = doe::choice_of<Kind>(name);
  if (!kind || *kind == Kind::kPower) {
    throw std::invalid_argument(fmt::format("there is no transform '{}'{}", name,
                                            did_you_mean_or_list(name, transform_names())));
  }
  return {*kind, 1};
}

bool has_value(const Transform& transform, double y) { return doe::has_value(transform.kind, y); }

double transformed(const Transform& transform, double y) {
  if (!has_value(transform, y)) {
    throw std::domain_error(
        fmt::format("transform '{}' is not defined for a response of {}: it needs {}",
                    transform_name(transform), y, doe::domain_of(transform.kind)));
  }
  return value_of(transform, y);
}

double transformed_or_end(const Transform& transform, double y) {
  if (has_value(transform, y)) return value_of(transform, y);
  const double top = transform.kind == Kind::kLogit ? 1 : kInfinity;
  return value_of(transform, std::clamp(y, 0.0, top));
}

double transform_slope(const Transform& transform, double y) {
  switch (transform.kind) {
    case Kind::kLog:
      return 1 / y;
    case Kind::kSqrt:
      return 0.5 / std::sqrt(y);
    case Kind::kInverse:
      return -1 / (y * y);
    case Kind::kLogit:
      return 1 / (y * (1 - y));
    case Kind::kPower:
      return std::pow(y, transform.lambda - 1);
    case Kind::kNone:
      break;
  }
  return 1;
}

double back_transformed(const Transform& transform, double z) {
  switch (transform.kind) {
    case Kind::kLog:
      return std::exp(z);
    case Kind::kSqrt:
      return z > 0 ? z * z : 0;
    case Kind::kInverse:
      return z > 0 ? 1 / z : kInfinity;
    case Kind::kLogit:
      return 1 / (1 + std::exp(-z));
    case Kind::kPower: {
      const double power = transform.lambda * z;  // y^lambda - 1
      if (power <= -1) return transform.lambda > 0 ? 0 : kInfinity;
      return std::exp(std::log1p(power) / transform.lambda);
    }
    case Kind::kNone:
      break;
  }
  return z;
}

std::pair<double, double> image_of_positive(const Transform& transform) {
  switch (transform.kind) {
    case Kind::kSqrt:
    case Kind::kInverse:
      return {0, kInfinity};
    case Kind::kPower:
      if (transform.lambda > 0) return {-1 / transform.lambda, kInfinity};
      return {-kInfinity, -1 / transform.lambda};
    case Kind::kLog:
    case Kind::kLogit:
    case Kind::kNone:
      break;
  }
  return {-kInfinity, kInfinity};
}

std::pair<double, double> transformed_range(const Transform& transform, double low, double high) {
  if (transform.kind == Kind::kNone) return {low, high};
  const double top = transform.kind == Kind::kLogit ? 1 : kInfinity;
  if (high < 0 || low > top) return {kInfinity, -kInfinity};
  // Responses beyond the domain of the transform are clamped to its ends.
  const double falls = transform.is_decreasing() ? -1 : 1;
  const double at_low = low <= 0 ? -falls * kInfinity : value_of(transform, low);
  const double at_high = high >= top ? falls * kInfinity : value_of(transform, high);
  return falls < 0 ? std::pair{at_high, at_low} : std::pair{at_low, at_high};
}

}  // namespace doetune::surfaces
