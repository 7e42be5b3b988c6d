// The region of factor settings in which runs are allowed.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "doe/expression.h"
#include "doe/factor.h"

namespace doetune::doe {

/// A condition on one factor of a forbidden combination: equality, or a numeric comparison.
struct Condition {
  enum class Comparison { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  int factor = 0;
  Comparison comparison = Comparison::kEqual;
  double value = 0;  ///< natural units (level index for a categorical factor)
};

/// The operator as written: "=", "<", "<=", ">", ">=".
const char* symbol(Condition::Comparison comparison);

/// A combination of settings that must not be run: the conjunction of its conditions.
using Forbidden = std::vector<Condition>;

/// A box of factor ranges minus what constraints and forbidden combinations exclude. A constraint
/// is an expression in natural units that must be true (nonzero).
class Region {
 public:
  Region() = default;
  Region(std::vector<Factor> factors, std::vector<std::shared_ptr<const Expression>> constraints,
         std::vector<Forbidden> forbidden);

  /// Whether constraints and forbidden combinations allow a point in natural units.
  bool allows(const std::vector<double>& natural) const;

  /// The constraint or combination that excludes the point; empty if the point is allowed.
  std::optional<std::string> excluded_by(const std::vector<double>& natural) const;

  /// The same region without one point in natural units.
  Region without(const std::vector<double>& natural) const;

  /// The same region without the points, in natural units, that do not pass a test. The test must
  /// be thread-safe; `text` states what it asks for.
  Region where(std::function<bool(const std::vector<double>&)> test, std::string text) const;

  /// A copy with its own expressions, for use in another thread: expressions are not thread-safe.
  Region for_another_thread() const;

  bool is_box() const { return constraints_.empty() && forbidden_.empty() && tests_.empty(); }

  const std::vector<std::shared_ptr<const Expression>>& constraints() const { return constraints_; }
  const std::vector<Forbidden>& forbidden() const { return forbidden_; }

 private:
  struct Test {
    std::function<bool(const std::vector<double>&)> passes;
    std::string text;
  };

  std::vector<Factor> factors_;
  std::vector<std::shared_ptr<const Expression>> constraints_;
  std::vector<Forbidden> forbidden_;
  std::vector<Test> tests_;
};

}  // namespace doetune::doe
