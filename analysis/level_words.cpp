#include "analysis/level_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"

namespace doetune::analysis {
namespace {

constexpr std::size_t kMaxLevels = 8;

/// The predicted mean at one level, with the other factors fixed.
struct LevelMean {
  std::size_t level = 0;
  Eigen::VectorXd point;  ///< coded
  surfaces::Prediction prediction;
};

/// Highest mean first.
std::vector<LevelMean> means_of(const Analysis& analysis, const ResponseAnalysis& response,
                                int factor) {
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  std::vector<double> settings = reference(analysis).settings;
  std::vector<LevelMean> means;
  for (std::size_t level = 0; level < factors[factor].level_names.size(); ++level) {
    settings[static_cast<std::size_t>(factor)] = static_cast<double>(level);
    const Eigen::VectorXd point = doe::coded_point(factors, settings);
    means.push_back({level, point, response.surface()->predict(point)});
  }
  std::stable_sort(means.begin(), means.end(), [](const LevelMean& a, const LevelMean& b) {
    return a.prediction.response() > b.prediction.response();
  });
  return means;
}

/// Whether two means differ significantly; always true without an error estimate.
bool are_apart(const surfaces::Surface& surface, const LevelMean& a, const LevelMean& b) {
  if (!(a.prediction.df > 0)) return true;
  Eigen::MatrixXd points(2, a.point.size());
  points << a.point.transpose(), b.point.transpose();
  const surfaces::MeanErrors errors = surface.mean_errors(points);
  const double error = std::hypot((errors.of_runs.row(0) - errors.of_runs.row(1)).norm(),
                                  (errors.own.row(0) - errors.own.row(1)).norm());
  return std::abs(a.prediction.mean - b.prediction.mean) > t_quantile_95(a.prediction.df) * error;
}

}  // namespace

std::string level_words(const Analysis& analysis, const ResponseAnalysis& response, int factor) {
  const std::vector<std::string>& names = factors_of(analysis)[factor].level_names;
  const std::vector<LevelMean> means = means_of(analysis, response, factor);
  bool any_apart = false;
  std::string text;
  for (std::size_t i = 0; i < std::min(means.size(), kMaxLevels); ++i) {
    const surfaces::Prediction& mean = means[i].prediction;
    const std::string value = number_to(mean.response(), half_width(mean.confidence_interval()));
    if (i > 0) {
      const bool apart = are_apart(*response.surface(), means[i - 1], means[i]);
      any_apart = any_apart || apart;
      text += apart ? ", then " : " or ";
    }
    text += fmt::format("{} ({})", names[means[i].level],
                        i == 0 ? with_unit(value, response.response.unit) : value);
  }
  if (means.size() > kMaxLevels) text += fmt::format(" and {} more", means.size() - kMaxLevels);
  return any_apart ? "highest with " + text : "the levels do not differ significantly: " + text;
}

}  // namespace doetune::analysis
