#include "analysis/tornado.h"

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"

namespace doetune::analysis {
namespace {

std::optional<SwingEnd> end_at(const Analysis& analysis, const ResponseAnalysis& response,
                               std::size_t f, std::optional<double> setting) {
  if (!setting) return std::nullopt;
  std::vector<double> settings = analysis.optimum->best.settings;
  settings[f] = *setting;
  if (!analysis.directory->study.region.allows(settings)) return std::nullopt;
  const Eigen::VectorXd coded = doe::coded_point(factors_of(analysis), settings);
  if (analysis.feasibility && analysis.feasibility->probability(coded) < analysis.min_feasibility) {
    return std::nullopt;
  }
  const surfaces::Prediction prediction = response.surface()->predict(coded);
  return SwingEnd{*setting, prediction.response(), half_width(prediction.confidence_interval())};
}

Tornado tornado_of(const Analysis& analysis, const ResponseAnalysis& response) {
  const surfaces::Prediction centre = response.surface()->predict(
      doe::coded_point(factors_of(analysis), analysis.optimum->best.settings));
  Tornado tornado{&response, centre.response(), half_width(centre.confidence_interval()), {}};
  for (const surfaces::FactorMoves& moves : analysis.details->robustness.moves) {
    const FactorSwing swing{moves.factor, end_at(analysis, response, moves.factor, moves.down),
                            end_at(analysis, response, moves.factor, moves.up)};
    if (swing.down || swing.up) tornado.swings.push_back(swing);
  }
  std::stable_sort(tornado.swings.begin(), tornado.swings.end(),
                   [&](const FactorSwing& a, const FactorSwing& b) {
                     return a.reach(tornado.centre) > b.reach(tornado.centre);
                   });
  return tornado;
}

}  // namespace

std::vector<Tornado> tornados(const Analysis& analysis) {
  std::vector<Tornado> found;
  if (!analysis.optimum || !analysis.details) return found;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) continue;
    Tornado tornado = tornado_of(analysis, response);
    if (!tornado.swings.empty()) found.push_back(std::move(tornado));
  }
  return found;
}

}  // namespace doetune::analysis
