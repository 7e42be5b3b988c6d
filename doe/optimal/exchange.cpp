#include "doe/optimal/exchange.h"

#include <Eigen/Dense>
#include <array>
#include <cmath>

#include "doe/optimal/exchange_batch.h"

namespace doetune::doe {
namespace {

constexpr int kMaxExchangePasses = 200;
constexpr int kRefactorEvery = 8;  ///< passes; also after the first, which may start near singular

bool due(int passes) { return passes == 1 || passes % kRefactorEvery == 0; }

/// Keeps all eight lanes busy with tasks.
class Lockstep {
 public:
  Lockstep(const ExchangeProblem& problem, double tolerance, const ExchangeTasks& tasks)
      : problem_(problem), tasks_(tasks), batch_(problem, tolerance) {}

  void run() {
    refill();
    while (any(active_) && !tasks_.stop()) {
      const LaneMask changed = pass();
      finish(changed);
      refill();
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      if (active_[lane] != 0) hand_over(lane);
    }
  }

 private:
  LaneMask pass() {
    LaneMask changed{};
    for (int run = 0; run < problem_.runs && !tasks_.stop(); ++run) {
      LaneMask in_run;
      batch_.improve_run(run, active_, in_run);
      changed |= in_run;
    }
    return changed;
  }

  void finish(const LaneMask& changed) {
    LaneMask stale{};
    for (int lane = 0; lane < kLanes; ++lane) {
      if (active_[lane] == 0) continue;
      ++passes_[lane];
      if (changed[lane] == 0 || passes_[lane] == kMaxExchangePasses) {
        hand_over(lane);
      } else if (due(passes_[lane])) {
        stale[lane] = -1;
      }
    }
    if (any(stale)) batch_.refactor(stale, tasks_.stop);
  }

  void hand_over(int lane) {
    tasks_.done({numbers_[lane], batch_.design(lane)});
    active_[lane] = 0;
  }

  void refill() {
    LaneMask fresh{};
    for (int lane = 0; lane < kLanes && more_; ++lane) {
      if (active_[lane] != 0) continue;
      const auto task = tasks_.next();
      more_ = task.has_value();
      if (!more_) break;
      batch_.load(lane, task->design);
      numbers_[lane] = task->number;
      passes_[lane] = 0;
      active_[lane] = -1;
      fresh[lane] = -1;
    }
    if (any(fresh)) batch_.refactor(fresh, tasks_.stop);
  }

  const ExchangeProblem& problem_;
  const ExchangeTasks& tasks_;
  ExchangeBatch batch_;
  LaneMask active_{};
  std::array<int, kLanes> numbers_{};
  std::array<int, kLanes> passes_{};
  bool more_ = true;
};

}  // namespace

std::optional<double> information_value(const ExchangeProblem& problem,
                                        const Eigen::MatrixXd& information) {
  const Eigen::LLT<Eigen::MatrixXd> factor(information);
  if (factor.info() != Eigen::Success) return std::nullopt;
  const Eigen::VectorXd diagonal = factor.matrixLLT().diagonal();
  const double scale = information.diagonal().maxCoeff();
  if (!(diagonal.minCoeff() > 1e-6 * std::sqrt(scale))) return std::nullopt;
  const double determinant = 2 * diagonal.array().log().sum();
  if (problem.criterion == ExactCriterion::kDeterminant) return determinant;
  const double trace = factor.solve(problem.weight).trace();
  if (!(trace > 0)) return std::nullopt;
  if (problem.criterion == ExactCriterion::kTrace) return -std::log(trace);
  const double share = problem.determinant_weight;
  return share * determinant / static_cast<double>(information.rows()) -
         (1 - share) * std::log(trace);
}

std::optional<double> exact_value(const ExchangeProblem& problem, const Eigen::MatrixXd& design) {
  Eigen::MatrixXd x(design.rows(), problem.space.column_count());
  for (Eigen::Index i = 0; i < design.rows(); ++i) {
    x.row(i) = problem.space.row(design.row(i).transpose());
  }
  Eigen::MatrixXd information = problem.base;
  information.noalias() += x.transpose() * x;
  return information_value(problem, information);
}

void exchange(const ExchangeProblem& problem, double tolerance, const ExchangeTasks& tasks) {
  Lockstep(problem, tolerance, tasks).run();
}

}  // namespace doetune::doe
