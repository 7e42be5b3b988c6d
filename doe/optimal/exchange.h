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
  kDeterminant,  ///< maximise |M|
  kTrace,        ///< minimise tr(M^-1 W)
  kCompound,     ///< maximise |M|^(s/p) / tr(M^-1 W)^(1 - s)
};

/// The search for n rows that, with the fixed information, give the best information matrix
///
///   M = base + sum over rows of f(x) f(x)'   (p x p).
struct ExchangeProblem {
  SearchSpace space;
  int runs = 0;
  std::vector<int> blocks;  ///< of each run, from 0; empty without blocks
  Eigen::MatrixXd base;     ///< p x p: from fixed runs and prior knowledge
  ExactCriterion criterion = ExactCriterion::kDeterminant;
  Eigen::MatrixXd weight;         ///< W, p x p, symmetric; not for kDeterminant
  double determinant_weight = 0;  ///< s, 0 to 1; kCompound only
};

/// The criterion of an information matrix M, to be maximised: ln |M|, or -ln tr(M^-1 W), or s/p ln
/// |M| - (1 - s) ln tr(M^-1 W) for the compound; empty if M is singular.
std::optional<double> information_value(const ExchangeProblem& problem,
                                        const Eigen::MatrixXd& information);

/// The criterion of a design, n x coordinates: information_value of its M.
std::optional<double> exact_value(const ExchangeProblem& problem, const Eigen::MatrixXd& design);

/// A search from a given design, n x coordinates.
struct ExchangeTask {
  int number = 0;
  Eigen::MatrixXd design;
};

/// Source of tasks and sink of their results. Called from the thread that runs exchange.
struct ExchangeTasks {
  std::function<std::optional<ExchangeTask>()> next;  ///< empty: no more tasks
  std::function<void(ExchangeTask)> done;             ///< receives the improved design
  std::function<bool()> stop;  ///< polled often; true: return the current designs
};

/// Improves designs coordinate by coordinate until a pass over all coordinates has no gain above
/// `tolerance` (relative to the criterion). The result of a task does not depend on the tasks
/// processed with it.
///
/// Along one coordinate of one row, |M| is a polynomial of twice the model's power, and tr(M^-1 W)
/// a ratio of two. Numeric coordinates move to its maximum on [-1, 1] (for the compound: the best
/// of a grid of points, refined); discrete levels are tried one by one. For a row that changes from
/// f to g, with V = M^-1 and A = (1 - f'Vf) V + Vff'V,
///
///   |M_new| / |M| = g'Ag + 1 - f'Vf = (1 + g'Vg)(1 - f'Vf) + (f'Vg)^2.
void exchange(const ExchangeProblem& problem, double tolerance, const ExchangeTasks& tasks);

}  // namespace doetune::doe
