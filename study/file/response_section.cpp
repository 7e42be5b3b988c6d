#include "study/file/sections.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>

#include "study/file/yaml.h"

namespace doetune::study {
namespace {

using doe::GoalType;

void check_goal(const Response& response, const YAML::Node& node,
                const std::filesystem::path& file) {
  const auto need = [&](bool given, const char* key) {
    if (!given) {
      fail_at(file, node,
              fmt::format("response '{}': goal {} needs '{}'", response.name, node["goal"].Scalar(),
                          key));
    }
  };
  const std::optional<GoalType>& goal = response.goal;
  if (goal == GoalType::kWithin || goal == GoalType::kAtLeast) need(!!response.low, "low");
  if (goal == GoalType::kWithin || goal == GoalType::kAtMost) need(!!response.high, "high");
  if (goal == GoalType::kTarget) need(!!response.target, "target");
  if (!goal && (response.low || response.high || response.target)) {
    fail_at(file, node,
            fmt::format("response '{}': limits without a goal; add goal: within, at_most or "
                        "at_least",
                        response.name));
  }
  const bool is_limit =
      goal == GoalType::kWithin || goal == GoalType::kAtLeast || goal == GoalType::kAtMost;
  if (!is_limit && (node["confidence"] || node["of"])) {
    fail_at(file, node["confidence"] ? node["confidence"] : node["of"],
            fmt::format("response '{}': confidence and of belong to goal: within, at_most or "
                        "at_least",
                        response.name));
  }
  if (response.low && response.high && *response.low >= *response.high) {
    fail_at(file, node,
            fmt::format("response '{}': low ({}) must be below high ({})", response.name,
                        *response.low, *response.high));
  }
  const bool outside = response.target && ((response.low && *response.target <= *response.low) ||
                                           (response.high && *response.target >= *response.high));
  if (outside)
    fail_at(file, node,
            fmt::format("response '{}': target must lie between low and high", response.name));
  if (response.capacity && *response.capacity <= 0) {
    fail_at(file, node["capacity"],
            fmt::format("response '{}': capacity must be above 0", response.name));
  }
  if (response.weight == 0 || response.importance == 0) {
    fail_at(file, node,
            fmt::format("response '{}': weight and importance must be above 0", response.name));
  }
}

void check_pattern(const Response& response, const YAML::Node& node,
                   const std::filesystem::path& file) {
  const re2::RE2 pattern(response.pattern, re2::RE2::Quiet);
  if (!pattern.ok()) {
    fail_at(file, node,
            fmt::format("response '{}': pattern is not a valid regular expression: {}",
                        response.name, pattern.error()));
  }
  if (pattern.NumberOfCapturingGroups() >= 1) return;
  fail_at(
      file, node,
      fmt::format("response '{}': pattern needs a group (...) around the value", response.name));
}

}  // namespace

Response read_response(const std::string& name, const YAML::Node& node, const FitSettings& fit,
                       const std::vector<doe::Factor>& factors, const std::filesystem::path& file) {
  Response response;
  response.name = name;
  response.unit = text_at(node, "unit");
  response.low = number_at(node, "low");
  response.high = number_at(node, "high");
  response.target = number_at(node, "target");
  response.weight = number_at(node, "weight").value_or(1);
  response.importance = number_at(node, "importance").value_or(1);
  response.confidence = number_at(node, "confidence").value_or(response.confidence);
  response.of = choice_at(node, "of", response.of);
  response.capacity = number_at(node, "capacity");
  response.transform = choice_at(node, "transform", response.transform);
  response.fit = read_fit(node["fit"], fit, factors, file);
  response.formula = text_at(node, "formula");
  response.pattern = text_at(node, "pattern");
  response.goal = doe::choice_of<GoalType>(text_at(node, "goal"));
  check_goal(response, node, file);
  if (node["pattern"]) check_pattern(response, node["pattern"], file);
  return response;
}

}  // namespace doetune::study
