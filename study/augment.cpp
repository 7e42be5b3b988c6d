#include "study/augment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/nearest_name.h"
#include "doe/classical/fold_over.h"
#include "doe/combinations.h"
#include "study/directory/journal.h"
#include "study/run_record.h"

namespace doetune::study {
namespace {

std::optional<RunStatus> status_of(const std::map<int, RunRecord>& records, int run) {
  const auto found = records.find(run);
  return found == records.end() ? std::nullopt : std::optional(found->second.status);
}

/// If the plan has blocks, added runs form a new one: they are run at another time.
int next_block(const Plan& plan) {
  int highest = 1;
  bool in_blocks = false;
  for (const PlannedRun& run : plan.runs) {
    highest = std::max(highest, run.block);
    in_blocks = in_blocks || (!run.validates() && run.block > 1);
  }
  return in_blocks ? highest + 1 : 1;
}

int max_whole_plot(const Plan& plan) {
  int highest = 0;
  for (const PlannedRun& run : plan.runs) highest = std::max(highest, run.whole_plot);
  return highest;
}

/// The number of additional whole plots that gives them the average size of those in the plan.
int whole_plots_for(int runs, const Plan& plan) {
  int in_plots = 0;
  std::set<int> plots;
  for (const PlannedRun& run : plan.runs) {
    if (run.whole_plot == 0 || run.validates()) continue;
    ++in_plots;
    plots.insert(run.whole_plot);
  }
  const double size = static_cast<double>(in_plots) / static_cast<double>(plots.size());
  return std::clamp(static_cast<int>(std::lround(runs / size)), 1, runs);
}

doe::DesignRequest request_of(const StudyDirectory& directory, const Augmentation& augmentation) {
  const Study& study = directory.study;
  const auto records = final_records(read_journal(directory).records);
  doe::DesignRequest request;
  request.factors = study.factors;
  request.region = augmentation.region.value_or(study.region);
  request.model = augmentation.model;
  request.options.runs = augmentation.runs;
  // Another seed than that of the plan, except that a Sobol' sequence is continued.
  const bool goes_on = augmentation.design == "sobol" && study.design.type == "sobol";
  request.seed = goes_on ? study.seed : study.seed + directory.plan.runs.size();
  request.options.possible = study.design.options.possible;
  std::vector<Eigen::VectorXd> existing;
  for (const PlannedRun& run : directory.plan.runs) {
    const auto status = status_of(records, run.run);
    if (status == RunStatus::kInfeasible) request.region = request.region.without(run.settings);
    if (run.validates() && !augmentation.include_confirmation) continue;
    if (status && *status != RunStatus::kCompleted) continue;
    existing.push_back(doe::coded_point(study.factors, run.settings));
    request.existing_whole_plots.push_back(run.whole_plot);
  }
  if (directory.plan.has_whole_plots() && augmentation.runs > 0) {
    request.options.whole_plots = whole_plots_for(augmentation.runs, directory.plan);
  }
  request.existing = Eigen::MatrixXd(existing.size(), study.factors.size());
  for (std::size_t i = 0; i < existing.size(); ++i) {
    request.existing.row(static_cast<Eigen::Index>(i)) = existing[i].transpose();
  }
  return request;
}

int index_of(const std::string& factor, const Study& study) {
  const std::vector<std::string> names = study.factor_names();
  const auto found = std::find(names.begin(), names.end(), factor);
  if (found == names.end()) {
    throw doe::DesignError(
        fmt::format("there is no factor '{}'{}", factor, did_you_mean_or_list(factor, names)));
  }
  return static_cast<int>(found - names.begin());
}

doe::Design fold_over(const StudyDirectory& directory, const Augmentation& augmentation) {
  const Study& study = directory.study;
  std::optional<int> factor;
  if (augmentation.factor) factor = index_of(*augmentation.factor, study);
  const Eigen::MatrixXd coded = directory.plan.coded(study.factors);
  doe::Design design;
  const Eigen::MatrixXd folded = doe::fold_over(coded, study.factors, factor);
  for (const PlannedRun& run : directory.plan.runs) {
    if (run.validates()) continue;
    const auto row = static_cast<Eigen::Index>(design.points.size());
    design.points.push_back({folded.row(row).transpose(), run.type});
  }
  return design;
}

doe::Design axial(const StudyDirectory& directory, const Augmentation& augmentation) {
  const std::vector<doe::Factor>& factors = directory.study.factors;
  doe::Design design;
  for (const Eigen::VectorXd& combination : doe::categorical_combinations(factors)) {
    for (const int f : doe::numeric_factors(factors)) {
      for (const double side : {-1.0, 1.0}) {
        design.points.push_back({combination, doe::PointType::kAxial});
        design.points.back().coded[f] = side;
      }
    }
    for (int run = 0; run < augmentation.center_runs; ++run) {
      design.points.push_back({combination, doe::PointType::kCenter});
    }
  }
  return design;
}

/// Rounds constructed runs to permitted levels and removes those outside the region.
doe::Design usable(doe::Design design, const doe::DesignRequest& request) {
  const std::size_t before = design.points.size();
  std::erase_if(design.points, [&](doe::DesignPoint& point) {
    std::vector<double> natural(request.factors.size());
    for (std::size_t f = 0; f < natural.size(); ++f) {
      natural[f] = request.factors[f].snap(request.factors[f].to_natural(point.coded[f]));
    }
    point.coded = doe::coded_point(request.factors, natural);
    return !request.region.allows(natural);
  });
  if (design.points.size() < before) {
    design.notes.push_back(fmt::format("{} of {} runs left out: not allowed, or found infeasible",
                                       before - design.points.size(), before));
  }
  return design;
}

doe::Design new_runs(const StudyDirectory& directory, const Augmentation& augmentation) {
  const doe::DesignRequest request = request_of(directory, augmentation);
  switch (augmentation.kind) {
    case Augmentation::Kind::kFoldOver:
      return usable(fold_over(directory, augmentation), request);
    case Augmentation::Kind::kAxial:
      return usable(axial(directory, augmentation), request);
    case Augmentation::Kind::kOptimal:
      break;
  }
  return doe::build_design(augmentation.design, request);
}

}  // namespace

Plan augmented_plan(const StudyDirectory& directory, const Augmentation& augmentation) {
  const Study& study = directory.study;
  Plan plan = directory.plan;
  try {
    const doe::Design design = new_runs(directory, augmentation);
    if (design.points.empty()) throw doe::DesignError("no run that could be added is allowed");
    std::map<std::vector<double>, int> seen;
    for (const PlannedRun& run : plan.runs) ++seen[run.settings];
    const int before = static_cast<int>(plan.runs.size());
    const int plots_before = max_whole_plot(plan);
    const int block = next_block(plan);
    for (const int i : doe::random_run_order(design, study.seed + plan.runs.size())) {
      const doe::DesignPoint& point = design.points[i];
      const std::vector<double> settings = doe::natural_settings(study.factors, point.coded);
      plan.runs.push_back({static_cast<int>(plan.runs.size()) + 1, before + i + 1, point.type,
                           block, ++seen[settings], settings,
                           point.whole_plot > 0 ? plots_before + point.whole_plot : 0});
    }
    plan.search = design.search;
    plan.notes.insert(plan.notes.end(), design.notes.begin(), design.notes.end());
    if (plots_before > 0 && design.points.front().whole_plot == 0) {
      plan.notes.push_back(
          "the added runs are not in whole plots: hard-to-change factors change from run to run");
    }
  } catch (const doe::DesignError& error) {
    throw StudyError(fmt::format("{}: {}", directory.path.string(), error.what()));
  }
  plan.evaluation = doe::evaluate(study.model, plan.coded(study.factors));
  return plan;
}

Plan repeated_plan(Plan plan, const Study& study, const std::vector<int>& runs) {
  for (const int number : runs) {
    PlannedRun again = plan.runs[static_cast<std::size_t>(number - 1)];
    again.run = static_cast<int>(plan.runs.size()) + 1;
    for (const PlannedRun& run : plan.runs) {
      if (run.settings == again.settings)
        again.replicate = std::max(again.replicate, run.replicate);
    }
    ++again.replicate;
    if (again.whole_plot > 0) again.whole_plot = max_whole_plot(plan) + 1;
    plan.notes.push_back(fmt::format("run {} repeats run {}", again.run, number));
    plan.runs.push_back(std::move(again));
  }
  plan.evaluation = doe::evaluate(study.model, plan.coded(study.factors));
  return plan;
}

std::optional<int> repeated_run(const Plan& plan, int run) {
  const int order = plan.runs[static_cast<std::size_t>(run - 1)].standard_order;
  const auto first = std::find_if(plan.runs.begin(), plan.runs.end(), [&](const PlannedRun& other) {
    return other.standard_order == order;
  });
  return first->run == run ? std::nullopt : std::optional(first->run);
}

}  // namespace doetune::study
