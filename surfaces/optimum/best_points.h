// The best distinct points of a search, without storing all points.
#pragma once

#include <cstddef>
#include <vector>

#include "surfaces/optimum/score.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

struct Scored {
  Settings settings;
  Score score;
};

/// Whether two settings differ by a quarter of a numeric factor's range or by a level.
bool differ(const std::vector<doe::Factor>& factors, const Settings& a, const Settings& b);

/// The best point, then repeatedly the best that differs from all before, at most `most`; empty if
/// the region allows none. One bound per block is kept, so that after the first pass only blocks
/// that could contain the next point are visited.
std::vector<Scored> best_points(const OptimumRequest& request, const SettingsSearch& search,
                                std::size_t most);

}  // namespace doetune::surfaces
