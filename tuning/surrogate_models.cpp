#include "tuning/surrogate_models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/parallel.h"
#include "doe/design.h"
#include "surfaces/models/censored_runs.h"
#include "surfaces/models/headroom.h"
#include "surfaces/models/limit_slack.h"

namespace doetune::tuning {
namespace {

constexpr int kDraws = 16;
constexpr int kConstant = 3;  ///< runs that show that a response does not vary

/// Writes the means at some of the points, in one solution for all of them.
void predict(const surfaces::GaussianProcess& process, const Eigen::MatrixXd& coded,
             Eigen::Index first, Eigen::Index draw, Means& means) {
  const Eigen::MatrixXd r = process.correlation.matrix(process.points, coded);
  const Eigen::MatrixXd f = process.model.matrix(coded);
  const Eigen::MatrixXd whitened = process.root.matrixL().solve(r);
  const Eigen::MatrixXd gap = process.mean_root.matrixL().solve(
      f.transpose() - process.whitened_mean.transpose() * whitened);
  const Eigen::ArrayXd variance = 1 + process.parameters.nugget -
                                  whitened.colwise().squaredNorm().transpose().array() +
                                  gap.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd deviation = process.process_sigma * variance.max(0).sqrt();
  means.mean.col(draw).segment(first, coded.rows()) =
      f * process.beta + r.transpose() * process.weights;
  means.deviation.col(draw).segment(first, coded.rows()) = deviation;
  means.learnt.col(draw).segment(first, coded.rows()) =
      deviation.square() / (deviation.square() + process.sigma * process.sigma).sqrt();
}

/// One column for each process.
Means predicted(const std::vector<const surfaces::GaussianProcess*>& processes,
                const Eigen::MatrixXd& coded, int threads) {
  constexpr Eigen::Index kBlock = 128;  // points of a task, whose matrices stay in the cache
  const auto draws = static_cast<Eigen::Index>(processes.size());
  const Eigen::MatrixXd empty(coded.rows(), draws);
  Means means{empty, empty, empty};
  const Eigen::Index blocks = (coded.rows() + kBlock - 1) / kBlock;
  parallel_for(static_cast<int>(blocks * draws), threads, [&](int task) {
    const Eigen::Index first = task % blocks * kBlock, draw = task / blocks;
    const Eigen::Index count = std::min(kBlock, coded.rows() - first);
    predict(*processes[static_cast<std::size_t>(draw)], coded.middleRows(first, count), first, draw,
            means);
  });
  return means;
}

/// Equal draws follow each other.
bool same(const surfaces::GaussianProcessParameters& a,
          const surfaces::GaussianProcessParameters& b) {
  return a.correlations == b.correlations && a.noise_ratio == b.noise_ratio && a.nugget == b.nugget;
}

Eigen::MatrixXd distinct_rows(const std::vector<Eigen::VectorXd>& points, Eigen::Index columns) {
  std::set<std::vector<double>> distinct;
  for (const Eigen::VectorXd& point : points) distinct.emplace(point.begin(), point.end());
  Eigen::MatrixXd rows(distinct.size(), columns);
  Eigen::Index row = 0;
  for (const std::vector<double>& point : distinct) {
    rows.row(row++) = Eigen::Map<const Eigen::RowVectorXd>(point.data(), columns);
  }
  return rows;
}

/// The runs of an objective, measured and censored.
struct ObjectiveRuns {
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;
  surfaces::CensoredRuns censored;
};

ObjectiveRuns runs_of(const Objective& objective, const Problem& problem,
                      const std::vector<Observation>& observations) {
  const auto count = static_cast<Eigen::Index>(observations.size());
  const auto k = static_cast<Eigen::Index>(problem.factors.size());
  ObjectiveRuns runs{Eigen::MatrixXd(count, k), Eigen::VectorXd(count), {}};
  runs.censored.coded.resize(count, k);
  Eigen::Index n = 0, m = 0;
  for (const Observation& observation : observations) {
    const Eigen::RowVectorXd coded =
        doe::coded_point(problem.factors, observation.settings).transpose();
    if (const auto bound = observation.bounds.find(objective.name);
        bound != observation.bounds.end()) {
      runs.censored.coded.row(m++) = coded;
      runs.censored.ranges.push_back(bound->second);
    }
    const auto value = observation.values.find(objective.name);
    if (!observation.completed || value == observation.values.end()) continue;
    if (!surfaces::has_value(objective.transform, value->second)) continue;
    runs.coded.row(n) = coded;
    runs.y[n++] = value->second;
  }
  runs.coded.conservativeResize(n, k);
  runs.y.conservativeResize(n);
  runs.censored.coded.conservativeResize(m, k);
  return runs;
}

}  // namespace

Means predicted(const surfaces::GaussianProcess& process, const Eigen::MatrixXd& coded) {
  return predicted({&process}, coded, 1);
}

SurrogateModels::SurrogateModels(const Problem& problem,
                                 const std::vector<Observation>& observations, int completion_draws)
    : threads_(problem.threads) {
  const auto k = static_cast<Eigen::Index>(problem.factors.size());
  std::vector<Eigen::VectorXd> all, ran;
  std::vector<bool> completed;
  Eigen::VectorXd headroom(observations.size());
  for (const Observation& observation : observations) {
    if (observation.pending) continue;  // whether it completes is not known
    headroom[static_cast<Eigen::Index>(all.size())] =
        surfaces::headroom_of(observation.values, problem.capacities)
            .value_or(std::numeric_limits<double>::quiet_NaN());
    all.push_back(doe::coded_point(problem.factors, observation.settings));
    completed.push_back(observation.completed);
    if (observation.completed && !observation.ended_early()) ran.push_back(all.back());
  }
  completed_ = distinct_rows(ran, k);
  headroom.conservativeResize(static_cast<Eigen::Index>(all.size()));
  const auto read = headroom.array().isFinite().count();
  const bool all_able = std::find(completed.begin(), completed.end(), false) == completed.end();
  if (!all_able || read >= surfaces::kMinReadings) {
    Eigen::MatrixXd coded(all.size(), k);
    for (std::size_t i = 0; i < all.size(); ++i) {
      coded.row(static_cast<Eigen::Index>(i)) = all[i].transpose();
    }
    feasibility_ = surfaces::fit_feasibility(problem.factors, coded, completed,
                                             problem.infeasible_when, completion_draws, headroom);
  }
  for (const Objective& objective : problem.objectives) {
    responses_.push_back(response_of(objective, problem, observations));
  }
}

SurrogateModels::Response SurrogateModels::response_of(
    const Objective& objective, const Problem& problem,
    const std::vector<Observation>& observations) {
  const auto [coded, y, censored] = runs_of(objective, problem, observations);
  Response response;
  response.goal = objective.goal;
  if (y.size() == 0) return response;
  const Eigen::VectorXd z =
      y.unaryExpr([&](double value) { return surfaces::transformed(objective.transform, value); });
  response.mean = z.mean();
  const double spread = std::sqrt((z.array() - z.mean()).square().mean());
  response.deviation = spread > 0 ? spread : std::max(1e-9, std::abs(z.mean()));
  const doe::Model mean = doe::Model::parse({"1"}, problem.factors);
  try {
    response.fit = surfaces::fit_gaussian_process(
        mean, coded, y, censored,
        {.transform = objective.transform, .with_nugget = true, .threads = problem.threads});
    response.goal.slack = surfaces::limit_slack(objective.goal, *response.fit);
    for (auto& process : surfaces::drawn_processes(*response.fit, kDraws, problem.threads)) {
      auto& distinct = response.processes;
      if (distinct.empty() || !same(process.parameters, distinct.back().parameters)) {
        distinct.push_back(std::move(process));
      }
      response.drawn.push_back(static_cast<Eigen::Index>(distinct.size()) - 1);
    }
  } catch (const surfaces::FitError&) {
    // Too few runs, or a response that does not vary: the distribution above.
    response.fit.reset();
    if (objective.goal.is_limit() && y.size() >= kConstant && y.maxCoeff() == y.minCoeff()) {
      response.constant =
          surfaces::fit_least_squares(mean, coded, y, {.transform = objective.transform});
      response.deviation = 1e-9 * (1 + std::abs(response.mean));
    }
  }
  return response;
}

bool SurrogateModels::has_models() const {
  return std::all_of(responses_.begin(), responses_.end(),
                     [](const Response& response) { return response.fit || response.constant; });
}

Means SurrogateModels::means(std::size_t o, const Eigen::MatrixXd& coded, Draws draws) const {
  const Response& response = responses_[o];
  if (!response.fit) {
    const Eigen::Index count = draws == Draws::kLikeliest ? 1 : kDraws;
    const Eigen::MatrixXd deviation =
        Eigen::MatrixXd::Constant(coded.rows(), count, response.deviation);
    return {Eigen::MatrixXd::Constant(coded.rows(), count, response.mean), deviation, deviation};
  }
  if (draws == Draws::kLikeliest) return predicted({&*response.fit}, coded, threads_);
  std::vector<const surfaces::GaussianProcess*> processes;
  for (const surfaces::GaussianProcess& process : response.processes) processes.push_back(&process);
  const Means each = predicted(processes, coded, threads_);
  return {each.mean(Eigen::all, response.drawn), each.deviation(Eigen::all, response.drawn),
          each.learnt(Eigen::all, response.drawn)};
}

const surfaces::GaussianProcess* SurrogateModels::process(std::size_t o) const {
  return responses_[o].fit ? &*responses_[o].fit : nullptr;
}

const surfaces::Surface* SurrogateModels::surface(std::size_t o) const {
  if (responses_[o].constant) return &*responses_[o].constant;
  return process(o);
}

const surfaces::Feasibility* SurrogateModels::feasibility() const {
  return feasibility_ ? &*feasibility_ : nullptr;
}

Eigen::VectorXd SurrogateModels::completion(const Eigen::MatrixXd& coded) const {
  if (!feasibility_) return Eigen::VectorXd::Ones(coded.rows());
  return feasibility_->probabilities(coded);
}

}  // namespace doetune::tuning
