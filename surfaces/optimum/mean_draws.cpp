#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>
#include <map>
#include <numbers>

#include "doe/random.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/joint_errors.h"

namespace doetune::surfaces {
namespace {

constexpr std::uint64_t kSeed = 20;

/// Independent standard normal values (Box & Muller 1958).
Eigen::MatrixXd normal_matrix(Eigen::Index rows, Eigen::Index columns, doe::RandomStream& random) {
  Eigen::MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < values.size(); i += 2) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    const double angle = 2 * std::numbers::pi * random.uniform();
    values.data()[i] = radius * std::cos(angle);
    if (i + 1 < values.size()) values.data()[i + 1] = radius * std::sin(angle);
  }
  return values;
}

/// A with A A' = correlation.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& correlation) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(correlation);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
}

/// sqrt(df / chi-squared), with the chi-squared that is as probable as a normal value.
double scale(double normal, double df) {
  if (std::isinf(df) || df == 0) return 1;
  return std::sqrt(df / chi_squared_quantile(normal_probability(normal), df));
}

}  // namespace

MeanDraws::MeanDraws(const JointErrors& joint, const Eigen::MatrixXd& coded)
    : run_root_(root_of(joint.of_run())),
      scale_root_(root_of(joint.of_run().cwiseProduct(joint.of_run()))) {
  std::map<int, int> rows;
  for (std::size_t j = 0; j < joint.responses_.size(); ++j) {
    const Surface& surface = *joint.responses_[j].surface;
    Response response{Eigen::VectorXd(coded.rows()), surface.mean_errors(coded), {}, 0, {}};
    const std::vector<Prediction> predictions = surface.predictions(coded);
    for (Eigen::Index i = 0; i < coded.rows(); ++i) {
      response.means[i] = predictions[static_cast<std::size_t>(i)].mean;
      response.df = predictions[static_cast<std::size_t>(i)].df;
      response.transform = predictions[static_cast<std::size_t>(i)].transform;
    }
    for (Eigen::Index i = 0; i < response.errors.of_runs.cols(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int run = at < joint.runs_[j].size() ? joint.runs_[j][at] : static_cast<int>(i);
      response.rows.push_back(rows.emplace(run, static_cast<int>(rows.size())).first->second);
    }
    responses_.push_back(std::move(response));
  }
  run_count_ = static_cast<Eigen::Index>(rows.size());
}

std::vector<Eigen::MatrixXd> MeanDraws::draw(int draws, std::uint64_t stream) const {
  doe::RandomStream random(kSeed, stream);
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

std::vector<Eigen::MatrixXd> MeanDraws::draw_responses(int draws, std::uint64_t stream) const {
  std::vector<Eigen::MatrixXd> drawn = draw(draws, stream);
  for (std::size_t j = 0; j < drawn.size(); ++j) {
    const Transform transform = responses_[j].transform;
    if (transform == Transform::kNone) continue;
    for (double& value : drawn[j].reshaped()) value = back_transformed(transform, value);
  }
  return drawn;
}

}  // namespace doetune::surfaces
