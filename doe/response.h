// Goals of a response and options of its surface fit: enumerations and their names.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::doe {

/// The names of an enumeration's values in study files, options and JSON, in enumerator order.
template <typename Choice>
inline constexpr std::array<std::string_view, 0> kWords{};

/// maximize, minimize, target: ramps. within, at_most, at_least: limits, either met or not.
enum class GoalType { kMaximize, kMinimize, kTarget, kWithin, kAtMost, kAtLeast };
template <>
inline constexpr std::array<std::string_view, 6> kWords<GoalType>{
    "maximize", "minimize", "target", "within", "at_most", "at_least"};

/// The scale of a fit. For kPower, the exponent is estimated from the runs (Box-Cox) if not given.
enum class TransformType { kNone, kLog, kSqrt, kInverse, kLogit, kPower };
template <>
inline constexpr std::array<std::string_view, 6> kWords<TransformType>{
    "none", "log", "sqrt", "inverse", "logit", "box-cox"};

/// Whether a response of y has a transformed value.
constexpr bool has_value(TransformType transform, double y) {
  switch (transform) {
    case TransformType::kNone:
      return true;
    case TransformType::kSqrt:
      return y >= 0;
    case TransformType::kLogit:
      return y > 0 && y < 1;
    case TransformType::kLog:
    case TransformType::kInverse:
    case TransformType::kPower:
      break;
  }
  return y > 0;
}

/// Those that have one, in words.
constexpr std::string_view domain_of(TransformType transform) {
  if (transform == TransformType::kLogit) return "fractions between 0 and 1";
  return transform == TransformType::kSqrt ? "responses of at least 0" : "positive responses";
}

/// What is fitted: the terms of the model, the best predicting surface, a Gaussian process, or a
/// parametric model.
enum class SurfaceType {
  kPolynomial,
  kAuto,
  kGaussianProcess,
  kAmdahl,  ///< the first parametric model; all that follow are parametric too
  kAmdahlTime,
  kUniversalScalability,
  kSaturation,
  kExponentialApproach,
  kFixedPlusLinear
};
template <>
inline constexpr std::array<std::string_view, 9> kWords<SurfaceType>{
    "polynomial",       "auto",
    "gaussian-process", "amdahl",
    "amdahl-time",      "universal-scalability",
    "saturation",       "exponential-approach",
    "fixed-plus-linear"};

constexpr bool is_parametric(SurfaceType type) { return type >= SurfaceType::kAmdahl; }

/// Selection of model terms by AICc.
enum class SelectionMethod { kNone, kBackward, kForward, kBestSubset };
template <>
inline constexpr std::array<std::string_view, 4> kWords<SelectionMethod>{"none", "backward",
                                                                         "forward", "best-subset"};

/// The loss function of residuals: least squares, or a robust M-estimator. Huber's and Tukey's fits
/// are less affected by outliers; Tukey's ignores the largest ones.
enum class Loss { kSquares, kHuber, kTukey };
template <>
inline constexpr std::array<std::string_view, 3> kWords<Loss>{"squares", "huber", "tukey"};

/// The error variance of single runs: constant, or modelled from replicated runs.
enum class VarianceType { kConstant, kModelled };
template <>
inline constexpr std::array<std::string_view, 2> kWords<VarianceType>{"constant", "modelled"};

/// Runs with a common block effect: the plan's blocks, or the runs of one host, GPU or UTC day.
enum class BlockType { kPlan, kHost, kGpu, kDay };
template <>
inline constexpr std::array<std::string_view, 4> kWords<BlockType>{"plan", "host", "gpu", "day"};

/// What a limit must hold for: a single further run, or the mean of many.
enum class LimitOf { kRun, kMean };
template <>
inline constexpr std::array<std::string_view, 2> kWords<LimitOf>{"run", "mean"};

/// The direction in which a numeric factor makes runs infeasible, known beforehand.
enum class InfeasibleWhen { kHigher, kLower };
template <>
inline constexpr std::array<std::string_view, 2> kWords<InfeasibleWhen>{"higher", "lower"};

template <typename Choice>
std::string word_of(Choice choice) {
  return std::string(kWords<Choice>.at(static_cast<std::size_t>(choice)));
}

template <typename Choice>
std::vector<std::string> words_of() {
  return {kWords<Choice>.begin(), kWords<Choice>.end()};
}

/// Empty if the word names no value.
template <typename Choice>
std::optional<Choice> choice_of(std::string_view word) {
  const auto found = std::find(kWords<Choice>.begin(), kWords<Choice>.end(), word);
  if (found == kWords<Choice>.end()) return std::nullopt;
  return static_cast<Choice>(found - kWords<Choice>.begin());
}

}  // namespace doetune::doe
