// Quantities measured by the runner for every run, besides the workload's own responses.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::study {

/// Can be used by name as a response or in a formula, unless the workload has a response of that
/// name.
struct Quantity {
  std::string_view name;
  std::string_view unit;
  std::string_view description;
};

std::span<const Quantity> telemetry_quantities();

/// Null if there is no quantity of that name.
const Quantity* find_quantity(std::string_view name);

/// Adds the names of all quantities that are not yet among `names`: what a formula may use.
void add_quantity_names(std::vector<std::string>& names);

}  // namespace doetune::study
