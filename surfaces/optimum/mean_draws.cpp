#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/fit.h"
#include "surfaces/optimum/joint_errors.h"

namespace doetune::surfaces {
namespace {

constexpr std::uint64_t kDrawSeed = 20;

/// Independent standard normal values (Box & Muller 1958).
Eigen::MatrixXd normal_matrix(Eigen::Index rows, Eigen::Index columns, RandomStream& random) {
  Eigen::MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < values.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    values.data()[i] = radius * std::cos(angle);
    if (i + 1 < values.size()) values.data()[i + 1] = radius * std::sin(angle);
  }
  return values;
}

/// A matrix A with A A' = correlation.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& correlation) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(correlation);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
}

/// sqrt(df / chi-squared), with chi-squared at the cumulative probability of a normal value.
double scale(double normal, double df) {
  if (std::isinf(df) || df == 0) return 1;
  return std::sqrt(df / chi_squared_quantile(normal_probability(normal), df));
}

/// The errors of a fit's means as (m x p) (p x n); the second factor depends only on the runs.
struct FactoredErrors {
  Eigen::MatrixXd of_points, of_runs;
};

/// Empty for surfaces other than fits with a single error.
std::optional<FactoredErrors> factored(const Surface& surface, const Eigen::MatrixXd& coded) {
  const auto* fit = dynamic_cast<const Fit*>(&surface);
  if (!fit || fit->split_plot) return std::nullopt;
  FactoredErrors errors{fit->sigma.value_or(0) * fit->model.matrix(coded), fit->weights_of_runs};
  if (fit->weights.size() > 0) {
    errors.of_runs *= fit->weights.cwiseSqrt().cwiseInverse().asDiagonal();
  }
  return errors;
}

/// The index of each matrix in a list of the distinct ones.
std::vector<std::size_t> distinct(const std::vector<FactoredErrors>& errors,
                                  std::vector<const Eigen::MatrixXd*>& found) {
  std::vector<std::size_t> places;
  for (const FactoredErrors& of_response : errors) {
    const auto same = std::find_if(found.begin(), found.end(), [&](const Eigen::MatrixXd* other) {
      return other->rows() == of_response.of_runs.rows() && *other == of_response.of_runs;
    });
    places.push_back(static_cast<std::size_t>(same - found.begin()));
    if (same == found.end()) found.push_back(&of_response.of_runs);
  }
  return places;
}

/// For fits to the same large set of runs: expresses the errors of their means by fewer independent
/// errors than runs, m x q for each response. With the distinct second factors stacked, (F_1' F_2'
/// ...) = Q R, the errors (m x p) F_j e are (m x p) R_j' u, where u = Q'e is independent like e.
/// Empty if this does not at least halve their number.
std::vector<Eigen::MatrixXd> by_fewer_errors(const std::vector<GoalResponse>& responses,
                                             const std::vector<std::vector<int>>& runs,
                                             const Eigen::MatrixXd& coded) {
  constexpr std::size_t kMany = 500;  // below this the full errors are cheap to draw
  const bool same_runs = std::all_of(
      runs.begin(), runs.end(), [&](const std::vector<int>& of_one) { return of_one == runs[0]; });
  if (runs.empty() || runs[0].size() < kMany || !same_runs) return {};
  std::vector<FactoredErrors> errors;
  for (const GoalResponse& response : responses) {
    auto of_response = factored(*response.surface, coded);
    if (!of_response) return {};
    errors.push_back(std::move(*of_response));
  }
  std::vector<const Eigen::MatrixXd*> factors;
  const std::vector<std::size_t> places = distinct(errors, factors);
  std::vector<Eigen::Index> starts{0};
  for (const Eigen::MatrixXd* factor : factors) starts.push_back(starts.back() + factor->rows());
  const auto n = static_cast<Eigen::Index>(runs[0].size());
  if (2 * starts.back() > n) return {};
  Eigen::MatrixXd stacked(n, starts.back());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    stacked.middleCols(starts[f], factors[f]->rows()) = factors[f]->transpose();
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(stacked);
  const Eigen::MatrixXd r = qr.matrixQR().topRows(stacked.cols()).triangularView<Eigen::Upper>();
  std::vector<Eigen::MatrixXd> fewer;
  for (std::size_t j = 0; j < errors.size(); ++j) {
    const Eigen::Index start = starts[places[j]], count = errors[j].of_runs.rows();
    fewer.push_back(errors[j].of_points * r.middleCols(start, count).transpose());
  }
  return fewer;
}

std::vector<int> numbered(Eigen::Index count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

MeanDraws::MeanDraws(const JointErrors& joint, const Eigen::MatrixXd& coded)
    : run_root_(root_of(joint.of_run())),
      scale_root_(root_of(joint.of_run().cwiseProduct(joint.of_run()))) {
  std::map<int, int> rows;
  std::vector<Eigen::MatrixXd> fewer = by_fewer_errors(joint.responses_, joint.runs_, coded);
  for (std::size_t j = 0; j < joint.responses_.size(); ++j) {
    const Surface& surface = *joint.responses_[j].surface;
    Response response{Eigen::VectorXd(coded.rows()), {}, {}, 0, {}};
    const std::vector<Prediction> predictions = surface.predictions(coded);
    for (Eigen::Index i = 0; i < coded.rows(); ++i) {
      response.means[i] = predictions[static_cast<std::size_t>(i)].mean;
      response.df = predictions[static_cast<std::size_t>(i)].df;
      response.transform = predictions[static_cast<std::size_t>(i)].transform;
    }
    const bool reduced = !fewer.empty();
    response.errors = reduced ? MeanErrors{std::move(fewer[j]), Eigen::MatrixXd(coded.rows(), 0)}
                              : surface.mean_errors(coded);
    const std::vector<int> runs =
        reduced ? numbered(response.errors.of_runs.cols()) : joint.runs_[j];
    for (Eigen::Index i = 0; i < response.errors.of_runs.cols(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int run = at < runs.size() ? runs[at] : static_cast<int>(i);
      response.rows.push_back(rows.emplace(run, static_cast<int>(rows.size())).first->second);
    }
    responses_.push_back(std::move(response));
  }
  run_count_ = static_cast<Eigen::Index>(rows.size());
}

std::vector<Eigen::MatrixXd> MeanDraws::draw(int draws, std::uint64_t stream) const {
  RandomStream random(kDrawSeed, stream);
  const auto r = static_cast<Eigen::Index>(responses_.size());
  std::vector<Eigen::MatrixXd> independent;
  for (Eigen::Index j = 0; j < r; ++j) {
    independent.push_back(normal_matrix(run_count_, draws, random));
  }
  const Eigen::MatrixXd scales = scale_root_ * normal_matrix(r, draws, random);
  std::vector<Eigen::MatrixXd> drawn;
  for (Eigen::Index j = 0; j < r; ++j) {
    const Response& response = responses_[static_cast<std::size_t>(j)];
    Eigen::MatrixXd of_runs = Eigen::MatrixXd::Zero(run_count_, draws);
    for (Eigen::Index k = 0; k < r; ++k) {
      of_runs += run_root_(j, k) * independent[static_cast<std::size_t>(k)];
    }
    Eigen::MatrixXd values = response.errors.of_runs * of_runs(response.rows, Eigen::all);
    values += response.errors.own * normal_matrix(response.errors.own.cols(), draws, random);
    for (Eigen::Index d = 0; d < draws; ++d) values.col(d) *= scale(scales(j, d), response.df);
    values.colwise() += response.means;
    drawn.push_back(std::move(values));
  }
  return drawn;
}

std::vector<Eigen::MatrixXd> MeanDraws::in_own_units(std::vector<Eigen::MatrixXd> drawn) const {
  for (std::size_t j = 0; j < drawn.size(); ++j) {
    const Transform transform = responses_[j].transform;
    if (transform == Transform::kNone) continue;
    for (double& value : drawn[j].reshaped()) value = back_transformed(transform, value);
  }
  return drawn;
}

}  // namespace doetune::surfaces
