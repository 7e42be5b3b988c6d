#include <ceres/jet.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "base/nearest_name.h"
#include "doe/response.h"
#include "surfaces/models/parametric_model.h"

namespace doetune::surfaces {
namespace {

using doe::SurfaceType, doe::word_of;

/// N parameters as dual numbers, for automatic differentiation.
template <int N>
std::array<ceres::Jet<double, N>, N> jets(const Eigen::VectorXd& parameters) {
  std::array<ceres::Jet<double, N>, N> result;
  for (int i = 0; i < N; ++i) result[i] = ceres::Jet<double, N>(parameters[i], i);
  return result;
}

template <int N>
double taken_apart(const ceres::Jet<double, N>& value, Eigen::VectorXd* gradient) {
  if (gradient != nullptr) *gradient = value.v;
  return value.a;
}

/// A parametric model's value function from a formula in x and an array of parameters.
template <int N, typename Formula>
auto of_x(Formula formula) {
  return [formula](double x, const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient) {
    return taken_apart<N>(formula(x, jets<N>(parameters)), gradient);
  };
}

template <int N, typename Formula>
auto of_parameters(Formula formula) {
  return [formula](const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient) {
    return taken_apart<N>(formula(jets<N>(parameters)), gradient);
  };
}

const ModelParameter kParallel{
    "p", "the fraction of the work that runs in parallel", 0, 1, {0.3, 0.9, 0.99}};

ParametricModel amdahl() {
  return {word_of(SurfaceType::kAmdahl),
          "y = c / ((1 - p) + p / x)",
          {{"c", "the response at x = 1"}, kParallel},
          of_x<2>([](double x, const auto& q) { return q[0] / (1.0 - q[1] + q[1] / x); }),
          {{"limit", "the upper limit of the response, c / (1 - p)",
            of_parameters<2>([](const auto& q) { return q[0] / (1.0 - q[1]); })}}};
}

ParametricModel amdahl_time() {
  return {word_of(SurfaceType::kAmdahlTime),
          "y = t ((1 - p) + p / x)",
          {{"t", "the time at x = 1"}, kParallel},
          of_x<2>([](double x, const auto& q) { return q[0] * (1.0 - q[1] + q[1] / x); }),
          {{"limit", "the lower limit of the time, t (1 - p)",
            of_parameters<2>([](const auto& q) { return q[0] * (1.0 - q[1]); })}}};
}

ParametricModel universal_scalability() {
  const double no_end = std::numeric_limits<double>::infinity();
  return {
      word_of(SurfaceType::kUniversalScalability),
      "y = c x / (1 + a (x - 1) + b x (x - 1))",
      {{"c", "the response at x = 1"},
       {"a", "contention: the fraction of the work that is serialised", 0, 1, {0.001, 0.03, 0.3}},
       {"b", "coherency: the cost of each pair", 0, no_end, {0.001, 0.03, 0.3}, -2}},
      of_x<3>([](double x, const auto& q) {
        return q[0] * x / (1.0 + q[1] * (x - 1) + q[2] * (x * (x - 1)));
      }),
      {{"peak", "the x of the highest response, sqrt((1 - a) / b)",
        of_parameters<3>([](const auto& q) { return sqrt((1.0 - q[1]) / q[2]); })}}};
}

ParametricModel saturation() {
  const double no_end = std::numeric_limits<double>::infinity();
  return {
      word_of(SurfaceType::kSaturation),
      "y = m x / (h + x)",
      {{"m", "the asymptotic response"}, {"h", "the x at half of it", 0, no_end, {0.1, 1, 10}, 1}},
      of_x<2>([](double x, const auto& q) { return q[0] * x / (q[1] + x); })};
}

ParametricModel exponential_approach() {
  const double no_end = std::numeric_limits<double>::infinity();
  return {word_of(SurfaceType::kExponentialApproach),
          "y = m (1 - exp(-r x))",
          {{"m", "the asymptotic response"},
           {"r", "the rate of the approach", 0, no_end, {0.1, 1, 10}, -1}},
          of_x<2>([](double x, const auto& q) { return q[0] * (1.0 - exp(-q[1] * x)); })};
}

ParametricModel fixed_plus_linear() {
  return {word_of(SurfaceType::kFixedPlusLinear),
          "y = f + s x",
          {{"f", "the fixed part"},
           {"s",
            "the increase per unit of x",
            -std::numeric_limits<double>::infinity(),
            std::numeric_limits<double>::infinity(),
            {0}}},
          of_x<2>([](double x, const auto& q) { return q[0] + q[1] * x; })};
}

}  // namespace

const std::vector<ParametricModel>& parametric_models() {
  static const std::vector<ParametricModel> all{
      amdahl(),     amdahl_time(),          universal_scalability(),
      saturation(), exponential_approach(), fixed_plus_linear()};
  return all;
}

const ParametricModel& parametric_model_named(std::string_view name) {
  std::vector<std::string> names;
  for (const ParametricModel& parametric : parametric_models()) {
    if (parametric.name == name) return parametric;
    names.push_back(parametric.name);
  }
  throw std::invalid_argument(
      fmt::format("there is no parametric model '{}'{}", name, did_you_mean_or_list(name, names)));
}

}  // namespace doetune::surfaces
