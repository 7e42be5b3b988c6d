// Writes optimum.json.
#include <algorithm>
#include <map>

#include "analysis/best_run.h"
#include "analysis/confirmation.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"

namespace doetune::reports {
namespace {

using analysis::Analysis;
using surfaces::Optimum;

/// Simultaneous intervals for all responses.
json::Format<surfaces::Intervals> simultaneous_format() {
  using surfaces::Intervals;
  return json::object<Intervals>(
      {{"confidence_interval", &Intervals::confidence, interval_format()},
       {"prediction_interval", &Intervals::prediction, interval_format()},
       {"tolerance_interval", &Intervals::tolerance, interval_format()}});
}

json::Format<surfaces::Candidate> candidate_format(const std::vector<doe::Factor>& factors) {
  using surfaces::Candidate, surfaces::ResponsePrediction;
  const auto predicted = json::object<ResponsePrediction>(
      {{"mean", &ResponsePrediction::mean},
       {"expected", &ResponsePrediction::expected},
       {"confidence_interval", &ResponsePrediction::confidence_interval, interval_format()},
       {"prediction_interval", &ResponsePrediction::prediction_interval, interval_format()},
       {"tolerance_interval", &ResponsePrediction::tolerance_interval, interval_format()},
       {"simultaneous", &ResponsePrediction::simultaneous, simultaneous_format()},
       {"goal_met", &ResponsePrediction::goal_met},
       {"goal_met_probability", &ResponsePrediction::goal_met_probability},
       {"mean_met_probability", &ResponsePrediction::mean_met_probability}});
  return json::object<Candidate>(
      {{"settings", &Candidate::settings, settings_format(factors)},
       {"desirability", &Candidate::desirability},
       {"responses", &Candidate::predictions, json::by_name(&ResponsePrediction::name, predicted)},
       {"feasibility", &Candidate::feasibility},
       {"all_goals_met_probability", &Candidate::all_goals_met_probability}});
}

json::Format<surfaces::Gain> gain_format() {
  using surfaces::Gain;
  return json::object<Gain>({{"difference", &Gain::difference},
                             {"interval", &Gain::interval, interval_format()},
                             {"ratio", &Gain::ratio},
                             {"ratio_interval", &Gain::ratio_interval, interval_format()}});
}

json::Format<std::vector<surfaces::Gain>> gains_format() {
  return json::by_name(&surfaces::Gain::name, gain_format());
}

/// Uncertainty of the optimum's setting of a factor: frequencies of levels, or an interval.
json::Format<surfaces::FactorUncertainty> format_of_factors(
    const std::vector<doe::Factor>& factors) {
  using surfaces::FactorUncertainty;
  const auto interval = json::object<FactorUncertainty>(
      {{"interval_90", &FactorUncertainty::settings, interval_format()},
       {"anywhere", &FactorUncertainty::anywhere}});
  const auto fractions = [factors](const FactorUncertainty& uncertain) {
    const auto factor = std::find_if(factors.begin(), factors.end(),
                                     [&](const auto& f) { return f.name == uncertain.name; });
    json::Value levels = json::Value::object();
    for (std::size_t level = 0; level < uncertain.shares.size(); ++level) {
      levels[factor->level_names[level]] = uncertain.shares[level];
    }
    return levels;
  };
  const auto of_levels =
      json::object<FactorUncertainty>({{"shares", fractions, json::map(json::number())},
                                       {"anywhere", &FactorUncertainty::anywhere}});
  return json::format<FactorUncertainty>(
      json::either({of_levels.schema, interval.schema}), [=](const FactorUncertainty& uncertain) {
        return (uncertain.shares.empty() ? interval : of_levels).write(uncertain);
      });
}

json::Format<surfaces::OptimumUncertainty> uncertainty_format(
    const std::vector<doe::Factor>& factors) {
  using surfaces::FactorUncertainty, surfaces::OptimumUncertainty;
  return json::object<OptimumUncertainty>(
      {{"draws", &OptimumUncertainty::draws},
       {"exact", &OptimumUncertainty::exact},
       {"factors", &OptimumUncertainty::factors,
        json::by_name(&FactorUncertainty::name, format_of_factors(factors))},
       {"best_shares", &OptimumUncertainty::best_shares},
       {"expected_desirability_loss", &OptimumUncertainty::expected_desirability_loss},
       {"expected_response_loss", &OptimumUncertainty::expected_response_loss}});
}

json::Format<surfaces::Robustness> robustness_format() {
  using surfaces::Robustness, surfaces::RobustResponse;
  const auto response =
      json::object<RobustResponse>({{"range", &RobustResponse::range, interval_format()},
                                    {"worst", &RobustResponse::worst},
                                    {"transmitted_deviation", &RobustResponse::transmitted}});
  return json::object<Robustness>(
      {{"responses", &Robustness::responses, json::by_name(&RobustResponse::name, response)},
       {"limits_met_fraction", &Robustness::limits_met_fraction},
       {"min_all_goals_met_probability", &Robustness::min_all_goals_met_probability},
       {"min_feasibility", &Robustness::min_feasibility}});
}

json::Format<analysis::OptimumDetails> details_format(const std::vector<doe::Factor>& factors) {
  using analysis::OptimumDetails, surfaces::Candidate;
  using surfaces::Equivalent, surfaces::ParetoPoint, surfaces::Relaxation;
  const auto candidate = candidate_format(factors);
  const auto equivalent =
      json::object<Equivalent>({{&Equivalent::candidate, candidate},
                                {"against_best", &Equivalent::against_best, gains_format()}});
  const auto point = json::object<ParetoPoint>(
      {{&ParetoPoint::candidate, candidate},
       {"non_dominated_probability", &ParetoPoint::non_dominated_probability}});
  const auto relaxation = json::object<Relaxation>(
      {{"others_can_be_met", &Relaxation::feasible},
       {"reachable", &Relaxation::reachable, json::maybe(json::number())},
       {"settings", [](const Relaxation& relaxed) { return relaxed.candidate.settings; },
        settings_format(factors)}});
  return json::object<OptimumDetails>(
      {{"gains", &OptimumDetails::gains, gains_format()},
       {"uncertainty", &OptimumDetails::uncertainty, uncertainty_format(factors)},
       {"equivalents", &OptimumDetails::equivalents, equivalent},
       {"robustness", &OptimumDetails::robustness, robustness_format()},
       {"pareto", [](const OptimumDetails& details) { return details.pareto.points; }, point},
       {"relaxations", &OptimumDetails::relaxations,
        json::by_name(&Relaxation::name, relaxation)}});
}

/// The goal as used, with the ends of ramps; an open end is null.
json::Format<surfaces::Goal> goal_format() {
  using surfaces::Goal;
  const auto target = [](const Goal& goal) {
    return goal.type == surfaces::GoalType::kTarget ? std::optional(goal.target) : std::nullopt;
  };
  return json::object<Goal>({{"goal", [](const Goal& goal) { return doe::word_of(goal.type); }},
                             {"low", &Goal::low, json::maybe(json::number())},
                             {"high", &Goal::high, json::maybe(json::number())},
                             {"weight", &Goal::weight},
                             {"importance", &Goal::importance},
                             {"target?", target}});
}

struct Measured {
  surfaces::Prediction mean;
  int runs;
};

json::Format<Measured> measured_format() {
  const auto mean = [](const Measured& measured) { return measured.mean.response(); };
  const auto interval = [](const Measured& measured) {
    return measured.mean.confidence_interval();
  };
  return json::object<Measured>({{"runs", &Measured::runs},
                                 {"mean", mean, json::maybe(json::number())},
                                 {"confidence_interval", interval, interval_format()}});
}

json::Format<analysis::ConfirmedResponse> confirmed_format() {
  using analysis::ConfirmedResponse, analysis::LimitHeld;
  const auto measured = [](const ConfirmedResponse& response) {
    return Measured{response.measured, response.runs};
  };
  const auto baseline = [](const ConfirmedResponse& response) {
    return response.baseline ? std::optional(Measured{*response.baseline, response.baseline_runs})
                             : std::nullopt;
  };
  return json::object<ConfirmedResponse>(
      {{measured, measured_format()},
       {"expected_interval", &ConfirmedResponse::range, interval_format()},
       {"simultaneous_expected_interval", &ConfirmedResponse::joint_range, interval_format()},
       {"agrees", &ConfirmedResponse::agrees},
       {"allows_anything", &ConfirmedResponse::allows_anything},
       {"limit_held", &ConfirmedResponse::limit, json::words<LimitHeld>({"yes", "open", "no"})},
       {"baseline", baseline, measured_format()},
       {"gain", &ConfirmedResponse::gain, gain_format()},
       {"gain_shown", &ConfirmedResponse::gain_shown,
        json::words<analysis::GainShown>({"yes", "open", "no"})}});
}

std::string study_name(const Analysis& analysis) { return analysis.directory->study.name; }

json::Format<analysis::Preference> preference_format() {
  using analysis::Preference;
  return json::object<Preference>(
      {{"run", [](const Preference& preferred) { return preferred.run.run; }},
       {"meets_limits", [](const Preference& preferred) { return preferred.run.meets_limits; }},
       {"is_preferred", &Preference::is_measured},
       {"reason", &Preference::reason}});
}

json::Format<Analysis> found_format(const std::vector<doe::Factor>& factors) {
  const auto candidate = candidate_format(factors);
  const auto optimum = json::object<Optimum>({{"feasible", &Optimum::feasible},
                                              {&Optimum::best, candidate},
                                              {"alternatives", &Optimum::alternatives, candidate},
                                              {"baseline", &Optimum::baseline, candidate}});
  const auto rest = json::object<Optimum>({{"at_bound", &Optimum::at_bound},
                                           {"global", &Optimum::global},
                                           {"optimality_gap", &Optimum::optimality_gap}});
  const auto found = [](const Analysis& analysis) -> const Optimum& { return *analysis.optimum; };
  const auto details = [](const Analysis& analysis) -> const analysis::OptimumDetails& {
    return *analysis.details;
  };
  const auto fallbacks = [](const Analysis& analysis) {
    std::map<std::string, analysis::Fallback> by_response;
    for (const analysis::ResponseAnalysis& response : analysis.responses) {
      if (response.fallback) by_response[response.response.name] = *response.fallback;
    }
    return by_response;
  };
  return json::document<Analysis>(
      {{"study", study_name},
       {found, optimum},
       {"confirmation", analysis::confirmation_of, confirmation_format()},
       {"best_measured", analysis::preference, preference_format()},
       {"goals", &Analysis::goals, goal_format()},
       {"fallbacks", fallbacks, fallback_format()},
       {found, rest},
       {details, details_format(factors)}});
}

/// The answer if no optimum can be predicted: the best measured run.
json::Format<Analysis> measured_run_format(const std::vector<doe::Factor>& factors) {
  const auto answer = [](const Analysis& analysis) { return *analysis.measured; };
  const auto settings = [](const Analysis& analysis) {
    return analysis.directory->plan.runs[static_cast<std::size_t>(analysis.measured->run - 1)]
        .settings;
  };
  const auto responses = [](const Analysis& analysis) {
    return analysis.records.at(analysis.measured->run).responses;
  };
  const auto run = json::object<Analysis>(
      {{"run", [=](const Analysis& analysis) { return answer(analysis).run; }},
       {"settings", settings, settings_format(factors)},
       {"responses", responses}});
  return json::document<Analysis>(
      {{"study", study_name},
       {"feasible", [=](const Analysis& analysis) { return answer(analysis).meets_limits; }},
       {"measured", std::identity(), run},
       {"reason", [=](const Analysis& analysis) { return answer(analysis).reason; }}});
}

json::Format<Analysis> none_format() {
  return json::document<Analysis>({{"study", study_name},
                                   {"feasible", [](const Analysis&) { return false; }},
                                   {"problem", &Analysis::optimum_problem}});
}

}  // namespace

json::Format<analysis::Confirmation> confirmation_format() {
  using analysis::Confirmation, analysis::ConfirmedResponse;
  const auto validation_format = json::words<Confirmation::Validation>(
      {"open", "confirmed", "not confirmed", "no gain", "inconclusive"});
  const auto doubt = json::words<Confirmation::Doubt>({"few runs", "gain", "range"});
  return json::object<Confirmation>(
      {{"judgement", &Confirmation::validation, validation_format},
       {"doubt", &Confirmation::doubt, doubt},
       {"runs", [](const Confirmation& assessed) { return assessed.planned.confirmation; }},
       {"baseline_runs", [](const Confirmation& assessed) { return assessed.planned.baseline; }},
       {"completed", &Confirmation::completed},
       {"missing", &Confirmation::missing},
       {"failed", &Confirmation::failed},
       {"responses", &Confirmation::responses,
        json::by_name(&ConfirmedResponse::name, confirmed_format())}});
}

json::Format<Analysis> optimum_format(const study::Study& study) {
  const auto found = found_format(study.factors), none = none_format();
  const auto measured = measured_run_format(study.factors);
  return json::format<Analysis>(
      json::either({found.schema, measured.schema, none.schema}), [=](const Analysis& analysis) {
        return (analysis.optimum ? found : analysis.measured ? measured : none).write(analysis);
      });
}

std::string optimum_json(const Analysis& analysis) {
  return optimum_format(analysis.directory->study).text(analysis);
}

}  // namespace doetune::reports
