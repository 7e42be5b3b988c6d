#include "analysis/reference_point.h"

#include <algorithm>

#include "analysis/format.h"
#include "doe/design.h"

namespace doetune::analysis {
namespace {

std::optional<std::vector<double>> baseline(const std::vector<doe::Factor>& factors) {
  std::vector<double> settings;
  for (const doe::Factor& factor : factors) {
    if (!factor.baseline) return std::nullopt;
    settings.push_back(*factor.baseline);
  }
  return settings;
}

}  // namespace

const std::vector<doe::Factor>& factors_of(const Analysis& analysis) {
  return analysis.directory->study.factors;
}

const std::string& unit_of(const Analysis& analysis, const std::string& response) {
  return analysis.directory->study.find_response(response)->unit;
}

Reference reference(const Analysis& analysis) {
  if (analysis.optimum) return {analysis.optimum->best.settings, "the optimum"};
  if (auto settings = baseline(factors_of(analysis))) return {*settings, "the baseline"};
  std::vector<double> centre;
  for (const doe::Factor& factor : factors_of(analysis)) {
    centre.push_back(factor.snap(factor.to_natural(0)));
  }
  return {centre, "the centre of the region"};
}

std::string setting_text(const doe::Factor& factor, double natural) {
  return factor.name + " = " + with_unit(factor.format(natural), factor.unit);
}

std::string settings_text(const std::vector<doe::Factor>& factors,
                          const std::vector<double>& settings, const std::vector<int>& except) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (std::find(except.begin(), except.end(), static_cast<int>(f)) != except.end()) continue;
    text += (text.empty() ? "" : ", ") + setting_text(factors[f], settings[f]);
  }
  return text;
}

std::vector<int> numeric_factors(const std::vector<doe::Factor>& factors) {
  std::vector<int> numeric;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) numeric.push_back(static_cast<int>(f));
  }
  return numeric;
}

const surfaces::Goal* goal_of(const Analysis& analysis, const std::string& response) {
  const auto found = analysis.goals.find(response);
  return found == analysis.goals.end() ? nullptr : &found->second;
}

const surfaces::ResponsePrediction* prediction_of(const surfaces::Candidate& candidate,
                                                  const std::string& response) {
  for (const surfaces::ResponsePrediction& predicted : candidate.predictions) {
    if (predicted.name == response) return &predicted;
  }
  return nullptr;
}

}  // namespace doetune::analysis
