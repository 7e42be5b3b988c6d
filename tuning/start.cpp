#include "tuning/start.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::tuning {
namespace {

constexpr int kStarts = 1;  ///< of the search for a design: the runs that follow matter more

constexpr int kMoreFirsts = 4;

constexpr std::size_t kMaxInPlot = 5'000;  ///< settings of a whole plot to choose from

std::vector<Settings> spread(const Problem& problem, int runs) {
  std::vector<Settings> settings;
  const auto k = static_cast<Eigen::Index>(problem.factors.size());
  doe::DesignRequest request;
  request.factors = problem.factors;
  request.region = problem.region;
  request.model = doe::Model::parse({"1"}, problem.factors);
  request.seed = problem.seed;
  request.options.center_runs = 0;
  request.options.starts = kStarts;
  const auto today = surfaces::baseline_of(problem.factors);
  if (today && problem.region.allows(*today)) {
    settings.push_back(*today);
    request.existing.resize(1, k);
    request.existing.row(0) = doe::coded_point(problem.factors, *today).transpose();
  }
  request.options.runs = runs - static_cast<int>(settings.size());
  if (*request.options.runs < 1) return settings;
  for (const doe::DesignPoint& point : doe::build_design("space-filling", request).points) {
    settings.push_back(doe::natural_settings(problem.factors, point.coded));
  }
  return settings;
}

/// Of the settings of a whole plot, those farthest from all others so far; empty if there are no
/// others.
std::optional<Settings> farthest(const Problem& problem, const surfaces::Block& in_plot,
                                 const std::vector<Settings>& so_far) {
  if (in_plot.size() == 0) return std::nullopt;
  Eigen::VectorXd nearest =
      Eigen::VectorXd::Constant(in_plot.size(), std::numeric_limits<double>::infinity());
  for (const Settings& settings : so_far) {
    const Eigen::RowVectorXd coded = doe::coded_point(problem.factors, settings).transpose();
    nearest = nearest.cwiseMin((in_plot.coded.rowwise() - coded).rowwise().squaredNorm());
  }
  Eigen::Index chosen = 0;
  if (nearest.maxCoeff(&chosen) == 0) return std::nullopt;
  return in_plot.settings(chosen);
}

/// Of the only settings that can be run: today's, else any, and then each time the one that is
/// farthest from all others.
std::vector<Settings> spread_among_only(const Problem& problem, int runs) {
  const surfaces::SettingsSearch search(problem.factors, problem.region, problem.only);
  const surfaces::Block points = search.all_points();
  if (points.size() == 0) return {};
  const auto today = surfaces::baseline_of(problem.factors);
  const auto& only = problem.only;
  const bool known = today && problem.region.allows(*today) &&
                     std::find(only.begin(), only.end(), *today) != only.end();
  const auto any = RandomStream(problem.seed, 0).below(static_cast<std::size_t>(points.size()));
  std::vector<Settings> settings{known ? *today : points.settings(static_cast<Eigen::Index>(any))};
  while (static_cast<int>(settings.size()) < runs) {
    auto next = farthest(problem, points, settings);
    if (!next) break;
    settings.push_back(*std::move(next));
  }
  return settings;
}

/// The allowed settings with the hard-to-change ones of a run.
surfaces::Block settings_of_plot(const Problem& problem, const Settings& run) {
  std::map<std::string, double> hold;
  for (std::size_t f = 0; f < problem.factors.size(); ++f) {
    if (problem.factors[f].hard_to_change) hold[problem.factors[f].name] = run[f];
  }
  return surfaces::SettingsSearch(problem.factors, problem.region, hold, kMaxInPlot, kMaxInPlot)
      .all_points();
}

/// Whole plots that fill the region of the hard-to-change factors, each with runs that fill that of
/// the others.
std::vector<Settings> start_in_plots(const Problem& problem, int runs) {
  const auto hard = std::count_if(problem.factors.begin(), problem.factors.end(),
                                  [](const auto& factor) { return factor.hard_to_change; });
  const int plots = std::clamp(2 * static_cast<int>(hard) + 2, 1, std::max(1, runs / 2));
  std::vector<std::vector<Settings>> in_plots;
  std::vector<Settings> all;
  const auto add_plots = [&](const std::vector<Settings>& firsts) {
    for (const Settings& first : firsts) {
      if (static_cast<int>(in_plots.size()) == plots) break;
      const bool known = std::any_of(in_plots.begin(), in_plots.end(), [&](const auto& plot) {
        return same_whole_plot(problem, plot.front(), first);
      });
      if (known) continue;
      in_plots.push_back({first});
      all.push_back(first);
    }
  };
  add_plots(spread(problem, plots));
  // Some may share their hard-to-change settings; a larger design has more different ones.
  if (static_cast<int>(in_plots.size()) < plots) add_plots(spread(problem, kMoreFirsts * plots));
  std::vector<surfaces::Block> choices;
  for (const auto& plot : in_plots) choices.push_back(settings_of_plot(problem, plot.front()));
  bool grows = true;
  while (grows) {
    grows = false;
    for (std::size_t plot = 0; plot < in_plots.size(); ++plot) {
      if (static_cast<int>(all.size()) >= runs) break;
      const auto next = farthest(problem, choices[plot], all);
      if (!next) continue;
      in_plots[plot].push_back(*next);
      all.push_back(*next);
      grows = true;
    }
  }
  std::vector<Settings> in_order;
  for (const auto& plot : in_plots) in_order.insert(in_order.end(), plot.begin(), plot.end());
  return in_order;
}

}  // namespace

int start_size(const Problem& problem, int budget) {
  const int wanted = 2 * static_cast<int>(problem.factors.size()) + 2;
  return std::max(1, std::min(wanted, budget / 2));
}

std::vector<Settings> start(const Problem& problem, int runs) {
  if (!problem.only.empty()) return spread_among_only(problem, runs);
  return has_whole_plots(problem) ? start_in_plots(problem, runs) : spread(problem, runs);
}

}  // namespace doetune::tuning
