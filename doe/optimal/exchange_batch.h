// The state of eight coordinate exchanges and the inner loops over it.
#pragma once

#include <Eigen/Core>

#include "doe/optimal/exchange.h"
#include "doe/optimal/lanes.h"

namespace doetune::doe {

/// All arrays have one lane a search. Of the symmetric p x p matrices V and B the
/// lower triangle is kept, row by row: at 28 columns it fits the nearest cache, the whole does not.
class ExchangeBatch {
 public:
  ExchangeBatch(const ExchangeProblem& problem, double tolerance);

  void load(int lane, const Eigen::MatrixXd& design);
  Eigen::MatrixXd design(int lane) const;

  /// Computes V (and B) anew in the lanes of the mask.
  void refactor(const LaneMask& lanes);

  /// Tries every coordinate of one run in the active lanes, and says which of them changed.
  void improve_run(int run, const LaneMask& active, LaneMask& changed);

 private:
  friend struct ExchangeKernel;

  const ExchangeProblem& problem_;
  double tolerance_;
  bool roughly_;
  int n_, k_, p_;
  bool trace_;                       ///< whether the criterion has a trace
  bool compound_;                    ///< and a determinant
  LaneArray x_;                      ///< n x k: the designs
  LaneArray v_, b_;                  ///< V = M^-1; B = V W V
  Lanes total_{};                    ///< tr(V W)
  LaneArray f_, vf_, vg_, bf_, bg_;  ///< of the run at hand: old row f, present row g
  LaneArray phi_;                    ///< the features of all coordinates of the run at hand
  LaneArray product_;                ///< of a column: its features but the coordinate's
  LaneArray factor_;                 ///< p x p in full, of refactor
};

}  // namespace doetune::doe
