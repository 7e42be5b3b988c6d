// What runs and servers took, for the budget of the next plan.
#pragma once

#include <optional>
#include <vector>

#include "study/run_record.h"

namespace doetune::study {

/// Mean times.
struct MeasuredCosts {
  std::optional<double> run_s;  ///< of a completed run
  int runs = 0;
  std::optional<double> set_up_s;  ///< to set up a server (run.set_up) until it was ready
  int set_ups = 0;
};

MeasuredCosts measured_costs(const std::vector<RunRecord>& records);

}  // namespace doetune::study
