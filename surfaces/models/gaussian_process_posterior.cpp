#include "surfaces/models/gaussian_process_posterior.h"

#include <cmath>

#include "surfaces/models/kriging.h"
#include "surfaces/models/posterior_draws.h"

namespace doetune::surfaces {
namespace {

/// The means of a process at the points, and L: their errors are L u, u independent.
struct JointMeans {
  Eigen::VectorXd mean;
  Eigen::MatrixXd root;
};

JointMeans joint_means(const GaussianProcess& process, const Eigen::MatrixXd& coded) {
  JointMeans joint{Eigen::VectorXd(coded.rows()), {}};
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    joint.mean[i] = process.predict(coded.row(i).transpose()).mean;
  }
  const MeanErrors errors = process.mean_errors(coded);
  joint.root = covariance_root(errors.of_runs * errors.of_runs.transpose() +
                               errors.own * errors.own.transpose());
  return joint;
}

}  // namespace

GaussianProcessPosterior::GaussianProcessPosterior(const GaussianProcess& fit, int threads)
    : processes_(drawn_processes(fit, kProcesses, threads, &log_marginal_likelihood_)),
      scales_(kDraws) {
  transform_ = fit.transform;
  df_ = fit.df;
  deviations_.resize(kDraws);
  PosteriorDraws random;
  for (int draw = 0; draw < kDraws; ++draw) {
    scales_[draw] = std::sqrt(fit.df / random.chi_squared(fit.df));
    deviations_[draw] = scales_[draw] * processes_[draw % kProcesses].sigma;
  }
  next_errors_ = random.normals(kDraws);
}

Eigen::MatrixXd GaussianProcessPosterior::means(const Eigen::MatrixXd& coded) const {
  PosteriorDraws random;
  Eigen::MatrixXd draws(kDraws, coded.rows());
  for (int process = 0; process < kProcesses; ++process) {
    const JointMeans joint = joint_means(processes_[process], coded);
    for (int draw = process; draw < kDraws; draw += kProcesses) {
      draws.row(draw) = joint.mean + scales_[draw] * (joint.root * random.normals(coded.rows()));
    }
  }
  return draws;
}

}  // namespace doetune::surfaces
