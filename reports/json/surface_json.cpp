#include "reports/json/surface_json.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "surfaces/fit.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/parametric_model.h"

namespace doetune::reports {
namespace {

using Json = nlohmann::ordered_json;

Json vector_json(const Eigen::VectorXd& values) {
  return std::vector<double>(values.begin(), values.end());
}

Json triangle(const Eigen::MatrixXd& symmetric) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < symmetric.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) list.push_back(symmetric(i, j));
  }
  return list;
}

Json columns(const doe::Model& model) {
  Json list = Json::array();
  for (const doe::ModelColumn& column : model.columns()) {
    list.push_back({{"name", column.name},
                    {"powers", model.terms()[static_cast<std::size_t>(column.term)].powers},
                    {"contrasts", column.contrasts}});
  }
  return list;
}

Json whole_plots(const surfaces::KenwardRoger& errors) {
  const Eigen::Matrix2d& w = errors.of_variances;
  return {{"ratio", errors.ratio},
          {"covariance", triangle(errors.covariance)},
          {"derivatives", {triangle(errors.derivatives[0]), triangle(errors.derivatives[1])}},
          {"of_variances", {w(0, 0), w(0, 1), w(1, 1)}}};
}

Json of(const surfaces::Fit& fit) {
  Json json = {{"surface", "polynomial"},
               {"transform", surfaces::transform_name(fit.transform)},
               {"sigma", fit.sigma ? Json(*fit.sigma) : Json()},
               {"df", fit.sigma ? fit.df_residual : 0},
               {"columns", columns(fit.model)},
               {"beta", vector_json(fit.beta)},
               {"covariance", triangle(fit.unscaled_covariance)}};
  if (fit.variance) {
    json["variance"] = {{"columns", columns(fit.variance->model)},
                        {"coefficients", vector_json(fit.variance->coefficients)}};
  }
  if (fit.split_plot) json["whole_plots"] = whole_plots(fit.split_plot->errors);
  return json;
}

Json of(const surfaces::GaussianProcess& fit) {
  Json points = Json::array();
  for (Eigen::Index i = 0; i < fit.points.rows(); ++i) {
    points.push_back(vector_json(fit.points.row(i).transpose()));
  }
  const std::vector<doe::Factor>& factors = fit.model.factors();
  Eigen::VectorXd rates(static_cast<Eigen::Index>(factors.size()));
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const double own = fit.parameters.correlations[f];
    rates[static_cast<Eigen::Index>(f)] =
        factors[f].is_categorical() ? -std::log(own) : 5 / (own * own);
  }
  return {{"surface", "gaussian-process"},
          {"transform", surfaces::transform_name(fit.transform)},
          {"sigma", fit.sigma},
          {"df", fit.df},
          {"columns", columns(fit.model)},
          {"beta", vector_json(fit.beta)},
          {"points", points},
          {"runs_at", std::vector<int>(fit.runs_at.begin(), fit.runs_at.end())},
          {"weights", vector_json(fit.weights)},
          {"rates", vector_json(rates)},
          {"noise_ratio", fit.parameters.noise_ratio},
          {"nugget", fit.parameters.nugget},
          {"process_sigma", fit.process_sigma}};
}

Json of(const surfaces::ParametricFit& fit) {
  Json parameters = Json::array();
  Json covariance = Json::array();
  const Eigen::Index p = fit.parameters.rows();
  for (Eigen::Index level = 0; level < fit.parameters.cols(); ++level) {
    parameters.push_back(vector_json(fit.parameters.col(level)));
    const Eigen::MatrixXd weights = fit.weights_of_runs.middleRows(level * p, p);
    covariance.push_back(triangle(weights * weights.transpose()));
  }
  return {{"surface", "parametric"},
          {"transform", surfaces::transform_name(fit.transform)},
          {"sigma", fit.sigma ? Json(*fit.sigma) : Json()},
          {"df", fit.sigma ? fit.df_residual : 0},
          {"parametric_model", fit.model.name},
          {"factor", fit.factor},
          {"by", fit.by ? Json(*fit.by) : Json()},
          {"parameters", parameters},
          {"covariance", covariance}};
}

}  // namespace

Json surface_json(const surfaces::Surface& surface) {
  if (const auto* fit = dynamic_cast<const surfaces::Fit*>(&surface)) return of(*fit);
  if (const auto* fit = dynamic_cast<const surfaces::GaussianProcess*>(&surface)) return of(*fit);
  if (const auto* fit = dynamic_cast<const surfaces::ParametricFit*>(&surface)) return of(*fit);
  return {};
}

Json feasibility_json(const surfaces::Feasibility& feasibility) {
  // Six digits of a draw change no probability by more than the draws' own error.
  Json draws = Json::array();
  for (Eigen::Index draw = 0; draw < feasibility.draws.cols(); ++draw) {
    Json draw_json = Json::array();
    for (const double value : feasibility.draws.col(draw)) {
      draw_json.push_back(std::stod(fmt::format("{:.6g}", value)));
    }
    draws.push_back(std::move(draw_json));
  }
  Json ran = Json::array();
  for (const auto& [point, runs] : feasibility.completed_at) {
    ran.push_back({{"coded", point}, {"odds", std::pow(surfaces::Feasibility::kRanThere, runs)}});
  }
  Json easier = Json::array();  // the sign of a change that makes completion no less likely
  for (const auto& direction : feasibility.infeasible_when) {
    easier.push_back(!direction ? 0 : *direction == doe::InfeasibleWhen::kHigher ? -1 : 1);
  }
  return {
      {"columns", columns(feasibility.model)}, {"draws", draws}, {"ran", ran}, {"easier", easier}};
}

}  // namespace doetune::reports
