#include "surfaces/optimum/empty_region.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/random.h"

namespace doetune::surfaces {
namespace {

constexpr int kTries = 1'000;

/// Counts, over random settings, how often each constraint is the first to exclude them.
std::map<std::string, int> reasons(const OptimumRequest& request, const SettingsSearch& search) {
  RandomStream random(1, 0);
  std::map<std::string, int> reasons;
  for (int i = 0; i < kTries; ++i) {
    const Settings settings = random_settings(search.choices(), random);
    if (const auto reason = request.region.excluded_by(settings)) ++reasons[*reason];
  }
  return reasons;
}

}  // namespace

void refuse_empty_region(const OptimumRequest& request, const SettingsSearch& search) {
  const std::string what = search.is_exhaustive()
                               ? "no usable settings lie inside the constraints"
                               : "a search found no usable settings inside the constraints";
  const std::map<std::string, int> found = reasons(request, search);
  const auto most = std::max_element(
      found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == found.end()) throw std::invalid_argument(what);
  throw std::invalid_argument(fmt::format(
      "{}: '{}' {}; relax it, or widen the range of a factor", what, most->first,
      most->second == kTries ? "excludes all of them" : "excludes more than any other"));
}

}  // namespace doetune::surfaces
