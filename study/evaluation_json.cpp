#include "study/evaluation_json.h"

#include "base/json_format.h"

namespace doetune::study {
namespace {

json::Schema number_or_null() { return json::maybe(json::number()); }

json::Value inflation(const doe::Evaluation& evaluation) {
  json::Value object = json::Value::object();
  for (const auto& [term, value] : evaluation.vif) object[term] = value;
  return object;
}

json::Value powers(const doe::FullEvaluation& evaluation) {
  json::Value object = json::Value::object();
  for (const auto& [term, power] : evaluation.powers) {
    object[term] = json::written(power, json::Plain());
  }
  return object;
}

json::Format<doe::NamedMatrix> matrix_format() {
  using doe::NamedMatrix;
  const auto rows = [](const NamedMatrix& matrix) {
    const auto all = matrix.values.rowwise();
    return std::vector<Eigen::RowVectorXd>(all.begin(), all.end());
  };
  return json::object<NamedMatrix>(
      {{"rows", &NamedMatrix::rows}, {"columns", &NamedMatrix::columns}, {"values", rows}});
}

json::Format<doe::MaxVariance> max_variance_format() {
  using doe::MaxVariance;
  return json::object<MaxVariance>({{"value", &MaxVariance::value},
                                    {"upper_bound", &MaxVariance::upper_bound},
                                    {"coded", &MaxVariance::at}});
}

}  // namespace

json::Format<doe::Evaluation> evaluation_format() {
  using doe::Evaluation;
  return json::object<Evaluation>({{"runs", &Evaluation::runs},
                                   {"terms", &Evaluation::terms},
                                   {"d_efficiency", &Evaluation::d_efficiency},
                                   {"a_efficiency", &Evaluation::a_efficiency},
                                   {"log_det", &Evaluation::log_det},
                                   {"condition_number", &Evaluation::condition_number},
                                   {"vif", inflation, json::map(number_or_null())},
                                   {"aliases", &Evaluation::aliases}});
}

json::Format<doe::FullEvaluation> full_evaluation_format() {
  using doe::FullEvaluation;
  const auto is_proven = [](const FullEvaluation& evaluation) {
    return evaluation.max_variance && evaluation.max_variance->proven;
  };
  return json::object<FullEvaluation>(
      {{"g_efficiency", &FullEvaluation::g_efficiency},
       {"g_efficiency_least", &FullEvaluation::g_efficiency_least},
       {"g_proven", is_proven},
       {"i_average_variance", &FullEvaluation::average_variance},
       {"max_variance", &FullEvaluation::max_variance, max_variance_format()},
       {"variance_quantiles", &FullEvaluation::variance_quantiles},
       {"min_distance", &FullEvaluation::min_distance},
       {"centered_l2", &FullEvaluation::centered_l2},
       {"power", powers, json::map(number_or_null())},
       {"leverages", &FullEvaluation::leverages},
       {"alias_sets", &FullEvaluation::alias_sets},
       {"alias_matrix", &FullEvaluation::aliases, matrix_format()},
       {"correlation", &FullEvaluation::correlation, matrix_format()}});
}

}  // namespace doetune::study
