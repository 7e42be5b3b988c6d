// What may be wanted of a response, and how its surface may be fitted: choices and their words.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::doe {

/// The words of a choice in study files, options and JSON, in the order of its enumerators.
template <typename Choice>
inline constexpr std::array<std::string_view, 0> kWords{};

/// maximize, minimize, target: ramps. within, at_most, at_least: limits, met or not.
enum class GoalType { kMaximize, kMinimize, kTarget, kWithin, kAtMost, kAtLeast };
template <>
inline constexpr std::array<std::string_view, 6> kWords<GoalType>{
    "maximize", "minimize", "target", "within", "at_most", "at_least"};

/// The scale of a fit. A power is estimated from the runs (Box-Cox) where none is given.
enum class TransformType { kNone, kLog, kSqrt, kInverse, kLogit, kPower };
template <>
inline constexpr std::array<std::string_view, 6> kWords<TransformType>{
    "none", "log", "sqrt", "inverse", "logit", "box-cox"};

/// What is fitted: the terms of the model, what predicts best, a Gaussian process, or a parametric
/// model.
enum class SurfaceType {
  kPolynomial,
  kAuto,
  kGaussianProcess,
  kAmdahl,  ///< the first model; all that follow are parametric models
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

/// Of the model's terms, by AICc.
enum class SelectionMethod { kNone, kBackward, kForward, kBestSubset };
template <>
inline constexpr std::array<std::string_view, 4> kWords<SelectionMethod>{"none", "backward",
                                                                         "forward", "best-subset"};

/// What large residuals cost: their squares, or less. Huber's and Tukey's fits are not pulled by a
/// few wild runs; Tukey's gives up the wildest altogether.
enum class Loss { kSquares, kHuber, kTukey };
template <>
inline constexpr std::array<std::string_view, 3> kWords<Loss>{"squares", "huber", "tukey"};

/// Of single runs: the same everywhere, or modelled from replicated runs.
enum class VarianceType { kConstant, kModelled };
template <>
inline constexpr std::array<std::string_view, 2> kWords<VarianceType>{"constant", "modelled"};

/// Runs that share an effect: the plan's blocks, or those of a host, its GPUs, a day in UTC.
enum class BlockType { kPlan, kHost, kGpu, kDay };
template <>
inline constexpr std::array<std::string_view, 4> kWords<BlockType>{"plan", "host", "gpu", "day"};

template <typename Choice>
std::string word_of(Choice choice) {
  return std::string(kWords<Choice>.at(static_cast<std::size_t>(choice)));
}

template <typename Choice>
std::vector<std::string> words_of() {
  return {kWords<Choice>.begin(), kWords<Choice>.end()};
}

/// Empty where the word is none of the choice.
template <typename Choice>
std::optional<Choice> choice_of(std::string_view word) {
  const auto found = std::find(kWords<Choice>.begin(), kWords<Choice>.end(), word);
  if (found == kWords<Choice>.end()) return std::nullopt;
  return static_cast<Choice>(found - kWords<Choice>.begin());
}

}  // namespace doetune::doe
