#include "study/response_section.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>

#include "study/fit_section.h"
#include "study/yaml.h"
#include "study/yaml_values.h"

namespace doetune::study {
namespace {

GoalKind goal_kind(const std::string& word) {
  if (word == "maximize") return GoalKind::kMaximize;
  if (word == "minimize") return GoalKind::kMinimize;
  if (word == "target") return GoalKind::kTarget;
  if (word == "within") return GoalKind::kWithin;
  return word == "at_most" ? GoalKind::kAtMost : GoalKind::kAtLeast;
}

void check_goal(const Response& response, const YAML::Node& node,
                const std::filesystem::path& file) {
  const auto need = [&](bool given, const char* key) {
    if (!given) {
      fail_at(file, node,
              fmt::format("response '{}': goal {} needs '{}'", response.name, node["goal"].Scalar(),
                          key));
    }
  };
  const GoalKind goal = response.goal;
  if (goal == GoalKind::kWithin || goal == GoalKind::kAtLeast) need(!!response.low, "low");
  if (goal == GoalKind::kWithin || goal == GoalKind::kAtMost) need(!!response.high, "high");
  if (goal == GoalKind::kTarget) need(!!response.target, "target");
  if (goal == GoalKind::kNone && (response.low || response.high || response.target)) {
    fail_at(file, node,
            fmt::format("response '{}': limits without a goal; add goal: within, at_most or "
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
  response.transform = text_at(node, "transform", "none");
  response.fit = read_fit(node["fit"], fit, factors, file);
  response.formula = text_at(node, "formula");
  response.pattern = text_at(node, "pattern");
  if (node["goal"]) response.goal = goal_kind(node["goal"].Scalar());
  check_goal(response, node, file);
  if (node["pattern"]) check_pattern(response, node["pattern"], file);
  return response;
}

}  // namespace doetune::study
