// Runs that judge an optimum: at its settings, and at today's.
#pragma once

#include <optional>
#include <vector>

#include "study/plan.h"

namespace doetune::study {

/// Settings that are judged, natural units, and today's where every factor has a baseline.
struct ValidatedSettings {
  std::vector<double> settings;
  std::optional<std::vector<double>> baseline;
};

/// Run numbers, ascending.
struct ValidationRuns {
  std::vector<int> confirmation;
  std::vector<int> baseline;

  std::vector<int> all() const;
};

/// The runs of the plan that judge these settings. Judging runs are in blocks of their own, a block
/// about one optimum: so its baseline runs are those that were made among its confirmation runs.
ValidationRuns validation_runs(const Plan& plan, const ValidatedSettings& assessed);

/// The plan with runs added after its own until `runs` judge the settings and as many the baseline,
/// unless that is the settings themselves; those that are there count, whatever became of them. In
/// pairs, in random order within each, so that drift does not favour either; in whole plots of
/// their own where the plan has any, since settings are made anew.
Plan confirmation_plan(Plan plan, const Study& study, const ValidatedSettings& assessed, int runs);

/// Confirmation runs at other settings than these.
struct OtherConfirmation {
  std::vector<double> settings;
  std::vector<int> runs;
};

/// In the order of their first runs.
std::vector<OtherConfirmation> other_confirmations(const Plan& plan,
                                                   const std::vector<double>& settings);

}  // namespace doetune::study
