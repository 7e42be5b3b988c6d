// Which terms may be in a model together.
#pragma once

#include <functional>
#include <vector>

#include "surfaces/selection/selection.h"

namespace doetune::surfaces {

/// Of each term of a HereditaryTerms: whether it is in.
using Subset = std::vector<bool>;

/// The terms of a model but "1", ordered so that parents come before their children.
class HereditaryTerms {
 public:
  HereditaryTerms(const doe::Model& model, Heredity heredity);

  std::size_t count() const { return terms_.size(); }
  int term(std::size_t at) const { return terms_[at]; }  ///< its place in the model

  bool may_enter(std::size_t at, const Subset& in) const;  ///< its parents are in
  bool may_leave(std::size_t at, const Subset& in) const;  ///< no term needs it

  Subset entered(std::size_t at, Subset in) const;  ///< with the parents that it needs
  Subset left(std::size_t at, Subset in) const;     ///< without the terms that need it

  /// How many subsets there are; limit + 1 where they are more.
  long subset_count(long limit) const;

  /// Every subset once, the empty one first.
  void for_each(const std::function<void(const Subset&)>& visit) const;

 private:
  bool for_each_from(std::size_t at, Subset& in,
                     const std::function<bool(const Subset&)>& visit) const;

  Heredity heredity_;
  std::vector<int> terms_;
  std::vector<std::vector<std::size_t>> parents_;
};

}  // namespace doetune::surfaces
