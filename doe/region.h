// The part of the factor box in which runs are allowed.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doe/expression.h"
#include "doe/factor.h"

namespace doetune::doe {

/// A condition on one factor of a forbidden combination: equality, or a comparison of numbers.
struct Condition {
  enum class Comparison { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  int factor = 0;
  Comparison comparison = Comparison::kEqual;
  double value = 0;  ///< natural units (level index for a categorical factor)
};

/// As it is written: "=", "<", "<=", ">", ">=".
const char* symbol(Condition::Comparison comparison);

/// A combination of settings that must not be run: all its conditions hold at once.
using Forbidden = std::vector<Condition>;

/// A region is a box of factors less what constraints and forbidden combinations exclude.
/// A constraint is an expression over natural units that must be true (not 0).
class Region {
 public:
  Region() = default;
  Region(std::vector<Factor> factors, std::vector<std::shared_ptr<const Expression>> constraints,
         std::vector<Forbidden> forbidden);

  /// Whether constraints and forbidden combinations allow a point in natural units.
  bool allows(const std::vector<double>& natural) const;

  /// The constraint or combination that excludes the point; empty where it is allowed.
  std::optional<std::string> excluded_by(const std::vector<double>& natural) const;

  /// The same region without one point in natural units.
  Region without(const std::vector<double>& natural) const;

  /// The same region with expressions of its own: those of one region serve one thread at a time.
  Region for_another_thread() const;

  bool is_box() const { return constraints_.empty() && forbidden_.empty(); }

  const std::vector<std::shared_ptr<const Expression>>& constraints() const { return constraints_; }
  const std::vector<Forbidden>& forbidden() const { return forbidden_; }

 private:
  std::vector<Factor> factors_;
  std::vector<std::shared_ptr<const Expression>> constraints_;
  std::vector<Forbidden> forbidden_;
};

}  // namespace doetune::doe
