// Confirmation runs at an optimum, paired with runs at the baseline settings.
#pragma once

#include <optional>
#include <vector>

#include "study/plan.h"

namespace doetune::study {

/// The settings to confirm, in natural units, and the baseline where every factor has one.
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

/// The runs of the plan that test these settings (learnt_runs.h). Each optimum has blocks of its
/// own, so that its baseline runs are those in the blocks of its confirmation runs.
ValidationRuns validation_runs(const Plan& plan, const ValidatedSettings& assessed);

/// The plan with runs appended until there are `runs` confirmation runs and as many baseline runs
/// (none if both settings are the same). Existing ones count, whatever their outcome. The runs are
/// added in pairs, in random order within each, so that drift favours neither; if the plan has
/// whole plots, each is a whole plot of its own, since its settings are reset.
Plan confirmation_plan(Plan plan, const Study& study, const ValidatedSettings& assessed, int runs);

/// Confirmation runs at other settings than these.
struct OtherConfirmation {
  std::vector<double> settings;
  std::vector<int> runs;
};

/// The same of other settings than these, in the order of their first confirmation runs.
std::vector<OtherConfirmation> other_confirmations(const Plan& plan,
                                                   const std::vector<double>& settings);

}  // namespace doetune::study
