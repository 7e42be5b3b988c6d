// Coordinate exchange without candidate points, eight searches at a time.
//
// Source: Meyer & Nachtsheim (1995), "The coordinate-exchange algorithm for constructing exact
// optimal experimental designs", Technometrics 37, with the line search made exact.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>

#include "doe/optimal/search_space.h"

namespace doetune::doe {

enum class ExactCriterion {
  kDeterminant,  ///< |M|, to be large
  kTrace,        ///< tr(M^-1 W), to be small
  kCompound,     ///< |M|^(s/p) / tr(M^-1 W)^(1 - s), to be large
};

/// The search for n rows that, added to what is known, have the best information matrix
///
///   M = base + sum over rows of f(x) f(x)'   (p x p).
struct ExchangeProblem {
  SearchSpace space;
  int runs = 0;
  std::vector<int> blocks;  ///< of each run, from 0; empty without blocks
  Eigen::MatrixXd base;     ///< p x p: of runs that stay, and of prior knowledge
  ExactCriterion criterion = ExactCriterion::kDeterminant;
  Eigen::MatrixXd weight;        ///< W, p x p, symmetric; not for kDeterminant
  double determinant_share = 0;  ///< s, 0 to 1; kCompound only
};

/// What an information matrix M is worth: to be large. ln |M|, or -ln tr(M^-1 W), or of the
/// compound s/p ln |M| - (1 - s) ln tr(M^-1 W); empty where M is singular.
std::optional<double> information_value(const ExchangeProblem& problem,
                                        const Eigen::MatrixXd& information);

/// What a design, n x coordinates, is worth: information_value of its M.
std::optional<double> exact_value(const ExchangeProblem& problem, const Eigen::MatrixXd& design);

/// A search from a given design, n x coordinates.
struct ExchangeTask {
  int number = 0;
  Eigen::MatrixXd design;
};

/// Where tasks come from and where their results go. Called from exchange's thread.
struct ExchangeTasks {
  std::function<std::optional<ExchangeTask>()> next;  ///< empty: no more
  std::function<void(ExchangeTask)> done;             ///< with the improved design
  std::function<bool()> stop;                         ///< asked often; true: return what there is
};

/// Improves designs, coordinate by coordinate, until a pass over all of them gains less than
/// `tolerance` (relative to the criterion) at each. What becomes of a task does not depend on the
/// tasks beside it.
///
/// In one coordinate of one row, |M| is a polynomial of twice the model's power, and tr(M^-1 W) a
/// ratio of two; numbers go to its largest value on [-1, 1] (of the compound: the largest of a row
/// of points, refined), levels are tried one by one. For a row
/// that changes from f to g, with V = M^-1 and A = (1 - f'Vf) V + Vff'V,
///
///   |M_new| / |M| = g'Ag + 1 - f'Vf = (1 + g'Vg)(1 - f'Vf) + (f'Vg)^2.
void exchange(const ExchangeProblem& problem, double tolerance, const ExchangeTasks& tasks);

}  // namespace doetune::doe
