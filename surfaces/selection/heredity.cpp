#include "surfaces/selection/heredity.h"

#include <algorithm>

namespace doetune::surfaces {
namespace {

/// Whether `parent` is `child` with one power reduced by one.
bool is_parent(const doe::Term& parent, const doe::Term& child) {
  if (parent.order() != child.order() - 1) return false;
  for (std::size_t f = 0; f < child.powers.size(); ++f) {
    if (parent.powers[f] > child.powers[f]) return false;
  }
  return true;
}

}  // namespace

HereditaryTerms::HereditaryTerms(const doe::Model& model, Heredity heredity) : heredity_(heredity) {
  const std::vector<doe::Term>& all = model.terms();
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (all[t].order() > 0) terms_.push_back(static_cast<int>(t));
  }
  const auto order = [&](int t) { return all[t].order(); };
  std::stable_sort(terms_.begin(), terms_.end(), [&](int a, int b) { return order(a) < order(b); });
  for (const int child : terms_) {
    std::vector<std::size_t>& parents = parents_.emplace_back();
    for (std::size_t at = 0; at < terms_.size(); ++at) {
      if (is_parent(all[terms_[at]], all[child])) {
        parents.push_back(at);
      }
    }
  }
}

bool HereditaryTerms::may_enter(std::size_t at, const Subset& in) const {
  const std::vector<std::size_t>& parents = parents_[at];
  if (parents.empty()) return true;
  const auto is_in = [&](std::size_t parent) { return in[parent]; };
  return heredity_ == Heredity::kStrong ? std::all_of(parents.begin(), parents.end(), is_in)
                                        : std::any_of(parents.begin(), parents.end(), is_in);
}

bool HereditaryTerms::may_leave(std::size_t at, const Subset& in) const {
  Subset without = in;
  without[at] = false;
  for (std::size_t other = at + 1; other < count(); ++other) {
    if (in[other] && !may_enter(other, without)) return false;
  }
  return true;
}

Subset HereditaryTerms::entered(std::size_t at, Subset in) const {
  in[at] = true;
  for (const std::size_t parent : parents_[at]) {
    if (may_enter(at, in)) break;
    if (!in[parent]) in = entered(parent, std::move(in));
  }
  return in;
}

Subset HereditaryTerms::left(std::size_t at, Subset in) const {
  in[at] = false;
  for (std::size_t other = at + 1; other < count(); ++other) {
    if (in[other] && !may_enter(other, in)) in[other] = false;
  }
  return in;
}

bool HereditaryTerms::for_each_from(std::size_t at, Subset& in,
                                    const std::function<bool(const Subset&)>& visit) const {
  if (at == count()) return visit(in);
  if (!for_each_from(at + 1, in, visit)) return false;
  if (!may_enter(at, in)) return true;
  in[at] = true;
  const bool goes_on = for_each_from(at + 1, in, visit);
  in[at] = false;
  return goes_on;
}

long HereditaryTerms::subset_count(long limit) const {
  long found = 0;
  Subset none(count(), false);
  for_each_from(0, none, [&](const Subset&) { return ++found <= limit; });
  return found;
}

void HereditaryTerms::for_each(const std::function<void(const Subset&)>& visit) const {
  Subset none(count(), false);
  for_each_from(0, none, [&](const Subset& in) {
    visit(in);
    return true;
  });
}

}  // namespace doetune::surfaces
