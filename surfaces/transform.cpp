#include "surfaces/transform.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "doe/nearest_name.h"

namespace doetune::surfaces {
namespace {

constexpr std::array<std::string_view, 4> kNames{"none", "log", "sqrt", "inverse"};

}  // namespace

std::string_view transform_name(Transform transform) {
  return kNames.at(static_cast<std::size_t>(transform));
}

std::vector<std::string> transform_names() { return {kNames.begin(), kNames.end()}; }

Transform transform_from_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw std::invalid_argument(fmt::format("no transform is named '{}'{}", name,
                                            doe::did_you_mean(name, transform_names())));
  }
  return static_cast<Transform>(found - kNames.begin());
}

double transformed(Transform transform, double y) {
  const bool defined =
      transform == Transform::kNone || y > 0 || (transform == Transform::kSqrt && y == 0);
  if (!defined) {
    throw std::domain_error(fmt::format("transform '{}' has no value for a response of {}",
                                        transform_name(transform), y));
  }
  switch (transform) {
    case Transform::kLog:
      return std::log(y);
    case Transform::kSqrt:
      return std::sqrt(y);
    case Transform::kInverse:
      return 1 / y;
    case Transform::kNone:
      break;
  }
  return y;
}

double back_transformed(Transform transform, double z) {
  switch (transform) {
    case Transform::kLog:
      return std::exp(z);
    case Transform::kSqrt:
      return z > 0 ? z * z : 0;
    case Transform::kInverse:
      return z > 0 ? 1 / z : std::numeric_limits<double>::infinity();
    case Transform::kNone:
      break;
  }
  return z;
}

}  // namespace doetune::surfaces
