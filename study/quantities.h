// What the runner measures of every run, besides the workload's own responses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

/// A response or a formula may use it by name, unless the workload has a response of that name.
struct Quantity {
  std::string_view name;
  std::string_view unit;
  std::string_view description;
};

std::span<const Quantity> telemetry_quantities();

/// Null where there is none of that name.
const Quantity* find_quantity(std::string_view name);

/// Adds the names of all quantities that are not among `names` yet: what a formula may use.
void add_quantity_names(std::vector<std::string>& names);

}  // namespace doetune::study
