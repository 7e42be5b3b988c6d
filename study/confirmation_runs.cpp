#include "study/confirmation_runs.h"

#include <algorithm>
#include <set>

#include "base/random.h"
#include "study/learnt_runs.h"

namespace doetune::study {
namespace {

using doe::PointType;

/// The blocks that contain confirmation runs at these settings, and test them still.
std::set<int> blocks_of(const Plan& plan, const std::vector<double>& settings) {
  std::set<int> blocks;
  for (const PlannedRun& run : plan.runs) {
    if (run.type != PointType::kConfirmation || run.settings != settings) continue;
    if (!has_learnt_from(plan, run)) blocks.insert(run.block);
  }
  return blocks;
}

int last_block(const Plan& plan) {
  int block = 0;
  for (const PlannedRun& run : plan.runs) block = std::max(block, run.block);
  return block;
}

}  // namespace

std::vector<int> ValidationRuns::all() const {
  std::vector<int> runs = confirmation;
  runs.insert(runs.end(), baseline.begin(), baseline.end());
  std::sort(runs.begin(), runs.end());
  return runs;
}

ValidationRuns validation_runs(const Plan& plan, const ValidatedSettings& assessed) {
  const std::set<int> blocks = blocks_of(plan, assessed.settings);
  ValidationRuns found;
  for (const PlannedRun& run : plan.runs) {
    if (!run.validates() || !blocks.contains(run.block)) continue;
    if (run.type == PointType::kConfirmation && run.settings == assessed.settings) {
      found.confirmation.push_back(run.run);
    }
    if (run.type == PointType::kBaseline && assessed.baseline == run.settings) {
      found.baseline.push_back(run.run);
    }
  }
  return found;
}

Plan confirmation_plan(Plan plan, const Study& study, const ValidatedSettings& assessed, int runs) {
  const ValidationRuns there = validation_runs(plan, assessed);
  const bool compared = assessed.baseline && *assessed.baseline != assessed.settings;
  int confirmation = runs - static_cast<int>(there.confirmation.size());
  int baseline = compared ? runs - static_cast<int>(there.baseline.size()) : 0;
  const std::set<int> blocks = blocks_of(plan, assessed.settings);
  const int block = blocks.empty() ? last_block(plan) + 1 : *blocks.rbegin();
  RandomStream random(study.seed, plan.runs.size());
  while (confirmation > 0 || baseline > 0) {
    const int first = static_cast<int>(random.below(2));
    for (const int turn : {first, 1 - first}) {
      if (turn == 0 && confirmation-- > 0) {
        append_run(plan, PointType::kConfirmation, assessed.settings, block);
      }
      if (turn == 1 && baseline-- > 0) {
        append_run(plan, PointType::kBaseline, *assessed.baseline, block);
      }
    }
  }
  return plan;
}

std::vector<OtherConfirmation> other_confirmations(const Plan& plan,
                                                   const std::vector<double>& settings) {
  std::vector<OtherConfirmation> others;
  for (const PlannedRun& run : plan.runs) {
    if (run.type != PointType::kConfirmation || run.settings == settings) continue;
    if (has_learnt_from(plan, run)) continue;
    auto other = std::find_if(others.begin(), others.end(), [&](const OtherConfirmation& known) {
      return known.settings == run.settings;
    });
    if (other == others.end()) other = others.insert(others.end(), {run.settings, {}});
    other->runs.push_back(run.run);
  }
  return others;
}

}  // namespace doetune::study
