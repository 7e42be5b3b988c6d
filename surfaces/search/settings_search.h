// Which usable settings a search looks at, and how it walks from one to a better one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::surfaces {

using Settings = std::vector<double>;

/// The usable settings of all factors, less those that the region forbids.
class SettingsSearch {
 public:
  /// `hold` fixes factors at a natural setting. `region` must outlive the search.
  SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                 const std::map<std::string, double>& hold);

  /// Whether for_each visits every usable setting.
  bool is_exhaustive() const;

  /// Visits up to 2,000,000 usable settings all. Beyond that: a grid of up to 200,000 points with
  /// at least both ends of every factor, unless there are more ends than that, and 2,000 points
  /// drawn at random, the same ones every time.
  void for_each(const std::function<void(const Settings&)>& visit) const;

  /// Moves one factor at a time to its best setting; where that helps no more, two factors at a
  /// time among neighbouring settings, so that a ridge across the factors does not stop it. Ends
  /// where nothing helps or when `evaluations` is spent, which is counted down.
  ///
  /// value_of  scores settings       better  whether the first score is better than the second
  template <typename Value, typename ValueOf, typename Better>
  std::pair<Settings, Value> improved(Settings start, Value value, const ValueOf& value_of,
                                      const Better& better, long& evaluations) const {
    const Move move = [&](const Settings& trial) {
      if (evaluations <= 0 || !region_.allows(trial)) return false;
      --evaluations;
      const Value found = value_of(trial);
      if (!better(found, value)) return false;
      value = found;
      return true;
    };
    while (evaluations > 0) {
      if (move_one_factor(start, move)) continue;
      if (!move_two_factors(start, move)) break;
    }
    return {std::move(start), value};
  }

 private:
  /// Says whether the search moves to a trial.
  using Move = std::function<bool(const Settings&)>;

  void for_each_of(const std::vector<Settings>& choices,
                   const std::function<void(const Settings&)>& visit) const;
  void for_each_random(const std::function<void(const Settings&)>& visit) const;
  bool move_one_factor(Settings& settings, const Move& move) const;
  bool move_two_factors(Settings& settings, const Move& move) const;
  bool move_pair(Settings& settings, std::size_t f, std::size_t g, bool far,
                 const Move& move) const;

  const doe::Region& region_;
  std::vector<Settings> choices_;  ///< of each factor, ascending
};

}  // namespace doetune::surfaces
