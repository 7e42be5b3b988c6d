// Model hierarchy: which terms may be in a model together.
#pragma once

#include <functional>
#include <vector>

#include "surfaces/selection/selection.h"

namespace doetune::surfaces {

/// For each term of a HereditaryTerms: whether it is in the model.
using Subset = std::vector<bool>;

/// The terms of a model except "1", ordered with parents before children.
class HereditaryTerms {
 public:
  HereditaryTerms(const doe::Model& model, Heredity heredity);

  std::size_t count() const { return terms_.size(); }
  int term(std::size_t at) const { return terms_[at]; }  ///< its index in the model

  bool may_enter(std::size_t at, const Subset& in) const;  ///< its parents are in the model
  bool may_leave(std::size_t at, const Subset& in) const;  ///< no term needs it

  Subset entered(std::size_t at, Subset in) const;  ///< adds it and the parents it needs
  Subset left(std::size_t at, Subset in) const;     ///< removes it and the terms that need it

  /// The number of subsets; limit + 1 if there are more than limit.
  long subset_count(long limit) const;

  /// Visits every subset once, the empty one first.
  void for_each(const std::function<void(const Subset&)>& visit) const;

 private:
  bool for_each_from(std::size_t at, Subset& in,
                     const std::function<bool(const Subset&)>& visit) const;

  Heredity heredity_;
  std::vector<int> terms_;
  std::vector<std::vector<std::size_t>> parents_;
};

}  // namespace doetune::surfaces
