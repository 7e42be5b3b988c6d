// State of eight simultaneous coordinate exchanges.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "doe/optimal/exchange.h"
#include "doe/optimal/lanes.h"

namespace doetune::doe {

/// All arrays have one lane per search. The symmetric p x p matrices V and B are stored as lower
/// triangles, row by row: at 28 columns a triangle fits into L1 cache, the full matrix does not.
class ExchangeBatch {
 public:
  ExchangeBatch(const ExchangeProblem& problem, double tolerance);

  void load(int lane, const Eigen::MatrixXd& design);
  Eigen::MatrixXd design(int lane) const;

  /// Recomputes V (and B) in the lanes of the mask. Large matrices are given up once `stop` is
  /// true; then only `design` may be called.
  void refactor(const LaneMask& lanes, const std::function<bool()>& stop);

  /// Tries every coordinate of one run in the active lanes; sets the lanes that changed.
  void improve_run(int run, const LaneMask& active, LaneMask& changed);

 private:
  friend struct ExchangeKernel;

  const ExchangeProblem& problem_;
  double tolerance_;
  bool roughly_;
  int n_, k_, p_;
  bool trace_;                       ///< whether the criterion includes a trace
  bool compound_;                    ///< whether it also includes a determinant
  LaneArray x_;                      ///< n x k: the designs
  LaneArray v_, b_;                  ///< V = M^-1; B = V W V
  Lanes total_{};                    ///< tr(V W)
  LaneArray f_, vf_, vg_, bf_, bg_;  ///< of the current run: old row f, new row g
  LaneArray phi_;                    ///< features of all coordinates of the current run
  LaneArray product_;  ///< per column: product of its features except the coordinate's
  LaneArray factor_;   ///< full p x p workspace of refactor
};

}  // namespace doetune::doe
