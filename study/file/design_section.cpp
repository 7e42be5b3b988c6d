#include "study/file/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "doe/design.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

/// Rejects options that are not in the list of the design type.
void check_options(const YAML::Node& node, const std::filesystem::path& file) {
  const std::string type = node["type"].Scalar();
  const std::vector<std::string> taken = doe::option_names(doe::find_design_type(type));
  for (const auto& entry : node) {
    const std::string& option = entry.first.Scalar();
    if (option == "type" || std::find(taken.begin(), taken.end(), option) != taken.end()) continue;
    fail_at(file, entry.first,
            fmt::format("design.{}: type {} does not take it; it takes {}", option, type,
                        fmt::join(taken, ", ")));
  }
}

std::optional<int> read_starts(const YAML::Node& node, const std::filesystem::path& file) {
  if (!node || node.Scalar() == "auto") return std::nullopt;
  const auto number = parse_number(node.Scalar());
  if (!number || *number != std::floor(*number) || *number < 1 || *number > 1e9) {
    fail_at(file, node,
            fmt::format("design.starts: expected auto or an integer of at least 1, found '{:.60}'",
                        node.Scalar()));
  }
  return static_cast<int>(*number);
}

doe::DesignOptions read_options(const YAML::Node& node, const std::filesystem::path& file) {
  doe::DesignOptions options;
  options.runs = whole_at(node, "runs");
  options.center_runs = whole_at(node, "center_runs");
  options.replicates = whole_at(node, "replicates").value_or(1);
  options.blocks = whole_at(node, "blocks").value_or(1);
  options.levels = whole_at(node, "levels");
  options.resolution = whole_at(node, "resolution");
  options.generators = texts(node["generators"]);
  options.alpha = text_at(node, "alpha");
  options.criterion = text_at(node, "criterion");
  options.starts = read_starts(node["starts"], file);
  options.time_limit_s = seconds_at(node, "time_limit");
  if (const YAML::Node weights = node["weights"]) {
    const auto weight = [&](const char* key) { return number_at(weights, key).value_or(0); };
    options.weights = {weight("d"), weight("i"), weight("a")};
  }
  options.possible = texts(node["possible"]);
  options.whole_plots = whole_at(node, "whole_plots");
  options.budget_s = seconds_at(node, "budget");
  options.run_cost_s = seconds_at(node, "run_cost");
  options.change_cost_s = seconds_at(node, "change_cost");
  return options;
}

}  // namespace

DesignSettings read_design(const YAML::Node& node, const std::filesystem::path& file) {
  DesignSettings design;
  design.type = node["type"].Scalar();
  check_options(node, file);
  design.options = read_options(node, file);
  if (design.type != "table") return design;
  if (!node["file"]) fail_at(file, node, "design: type table needs file: runs.csv");
  design.table = file.parent_path() / node["file"].Scalar();
  return design;
}

}  // namespace doetune::study
