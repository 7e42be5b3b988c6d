#include "study/evaluation_json.h"
#include "base/json.h"

#include <nlohmann/json.hpp>

namespace doetune::study {
namespace {

using nlohmann::ordered_json;

ordered_json numbers(const Eigen::Ref<const Eigen::VectorXd>& values) {
  return std::vector<double>(values.begin(), values.end());
}

ordered_json matrix_document(const doe::NamedMatrix& matrix) {
  ordered_json rows = ordered_json::array();
  for (const auto row : matrix.values.rowwise()) rows.push_back(numbers(row.transpose()));
  return {{"rows", matrix.rows}, {"columns", matrix.columns}, {"values", rows}};
}

}  // namespace

ordered_json evaluation_document(const doe::Evaluation& evaluation) {
  ordered_json vif = ordered_json::object();
  for (const auto& [term, value] : evaluation.vif) vif[term] = value;
  return {{"runs", evaluation.runs},
          {"terms", evaluation.terms},
          {"d_efficiency", or_null(evaluation.d_efficiency)},
          {"a_efficiency", or_null(evaluation.a_efficiency)},
          {"log_det", or_null(evaluation.log_det)},
          {"condition_number", or_null(evaluation.condition_number)},
          {"vif", vif},
          {"aliases", evaluation.aliases}};
}

ordered_json evaluation_document(const doe::FullEvaluation& evaluation, const doe::Model& model) {
  ordered_json json = evaluation_document(evaluation.basics);
  json["model"] = model.term_names();
  json["g_efficiency"] = or_null(evaluation.g_efficiency);
  json["g_efficiency_least"] = or_null(evaluation.g_efficiency_least);
  json["g_proven"] = evaluation.max_variance && evaluation.max_variance->proven;
  json["i_average_variance"] = or_null(evaluation.average_variance);
  json["max_variance"] = nullptr;
  if (evaluation.max_variance) {
    json["max_variance"] = {{"value", evaluation.max_variance->value},
                            {"upper_bound", evaluation.max_variance->upper_bound},
                            {"coded", numbers(evaluation.max_variance->at)}};
  }
  json["variance_quantiles"] = evaluation.variance_quantiles;
  json["min_distance"] = or_null(evaluation.min_distance);
  json["centered_l2"] = or_null(evaluation.centered_l2);
  json["power"] = ordered_json::object();
  for (const doe::TermPower& term : evaluation.powers) {
    json["power"][term.term] = or_null(term.power);
  }
  json["leverages"] = evaluation.leverages;
  json["alias_sets"] = evaluation.alias_sets;
  json["alias_matrix"] = matrix_document(evaluation.aliases);
  json["correlation"] = matrix_document(evaluation.correlation);
  return json;
}

}  // namespace doetune::study
