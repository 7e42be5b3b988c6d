#include "runner/search/largest_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace doetune::runner {
namespace {

constexpr double kGrowth = 4;
constexpr double kMaxExcess = 1;

double capped(double excess) { return std::clamp(excess, -kMaxExcess, kMaxExcess); }

/// Ends of the interval of a probe's excess.
double upper(const LoadProbe& probe) { return capped(probe.excess) + probe.half_width; }
double lower(const LoadProbe& probe) { return capped(probe.excess) - probe.half_width; }

/// Where `end`, linear in the logarithm of the load, becomes positive between two loads.
double crossing(const LoadProbe& below, const LoadProbe& above, double (*end)(const LoadProbe&)) {
  const double from = end(below), to = end(above);
  if (from > 0) return below.load;
  if (to <= 0) return above.load;
  return below.load * std::pow(above.load / below.load, -from / (to - from));
}

/// Whether a closed bracket may be due to a disturbed measurement of its upper end.
bool is_doubtful(const LoadProbe& kept, const LoadProbe& exceeded,
                 const std::vector<LoadProbe>& probes) {
  constexpr double kWide = 0.2;  // margin, relative to the limit
  const auto times = std::ranges::count(probes, exceeded.load, &LoadProbe::load);
  return kept.excess + kept.half_width < -kWide && times == 1;
}

}  // namespace

LargestLoad::LargestLoad(const doe::Factor& factor) : factor_(factor) {
  const bool any = factor.kind == doe::FactorKind::kContinuous && factor.step == 0;
  if (!any) settings_ = factor.usable_settings();
}

void LargestLoad::add(const LoadProbe& probe) {
  for (LoadProbe& earlier : probes_) earlier.superseded |= earlier.load == probe.load;
  probes_.push_back(probe);
}

const LoadProbe* LargestLoad::kept() const {
  const LoadProbe* largest = nullptr;
  for (const LoadProbe& probe : probes_) {
    if (probe.superseded || !probe.kept()) continue;
    if (largest == nullptr || probe.load > largest->load) largest = &probe;
  }
  return largest;
}

const LoadProbe* LargestLoad::exceeded() const {
  const LoadProbe* smallest = nullptr;
  for (const LoadProbe& probe : probes_) {
    if (probe.superseded || probe.kept()) continue;
    if (smallest == nullptr || probe.load < smallest->load) smallest = &probe;
  }
  return smallest;
}

/// The largest usable setting up to the load; any factor's lowest otherwise. Four digits are enough
/// for a load that may be any number.
double LargestLoad::usable(double load) const {
  load = std::clamp(load, factor_.low, factor_.high);
  if (settings_.empty())
    return std::clamp(std::strtod(fmt::format("{:.4g}", load).c_str(), nullptr), factor_.low,
                      factor_.high);
  const auto above = std::upper_bound(settings_.begin(), settings_.end(), load);
  return above == settings_.begin() ? settings_.front() : *std::prev(above);
}

std::optional<double> LargestLoad::next() const {
  const LoadProbe* const kept = this->kept();
  const LoadProbe* const exceeded = this->exceeded();
  if (kept == nullptr && exceeded == nullptr) return usable(factor_.baseline.value_or(factor_.low));
  if (kept == nullptr) {
    if (exceeded->load <= factor_.low) return std::nullopt;
    return usable(exceeded->load / kGrowth);
  }
  if (exceeded != nullptr) {
    const auto load = inside(*kept, *exceeded);
    return load || !is_doubtful(*kept, *exceeded, probes_) ? load : exceeded->load;
  }
  if (kept->load >= usable(factor_.high)) return std::nullopt;
  const double larger = usable(kept->load * kGrowth);
  if (larger > kept->load) return larger;
  return *std::upper_bound(settings_.begin(), settings_.end(), kept->load);
}

std::optional<double> LargestLoad::inside(const LoadProbe& kept, const LoadProbe& exceeded) const {
  constexpr double kSafe = 0.2;  // of the bracket
  const double above = capped(exceeded.excess), below = capped(kept.excess);
  const double fraction = std::clamp(-below / (above - below), kSafe, 1 - kSafe);
  const double load = kept.load * std::pow(exceeded.load / kept.load, fraction);
  if (settings_.empty()) {
    if (exceeded.load <= kept.load * (1 + kResolution)) return std::nullopt;
    return usable(load);
  }
  const double next_up = *std::upper_bound(settings_.begin(), settings_.end(), kept.load);
  const double value = std::max(usable(load), next_up);
  if (value >= exceeded.load || exceeded.load <= kept.load * (1 + kResolution)) return std::nullopt;
  return value;
}

std::pair<double, std::optional<double>> LargestLoad::interval() const {
  std::vector<LoadProbe> sorted = probes_;
  std::erase_if(sorted, [](const LoadProbe& probe) { return probe.superseded; });
  std::ranges::sort(sorted, {}, &LoadProbe::load);
  double low = factor_.low;
  std::optional<double> high;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (upper(sorted[i]) > 0) continue;
    low = i + 1 < sorted.size() ? crossing(sorted[i], sorted[i + 1], upper) : sorted[i].load;
  }
  for (std::size_t i = sorted.size(); i-- > 0;) {
    if (lower(sorted[i]) <= 0) continue;
    high = i > 0 ? crossing(sorted[i - 1], sorted[i], lower) : sorted[i].load;
  }
  if (kept()) low = std::min(low, kept()->load);
  if (exceeded() && high) high = std::max(*high, exceeded()->load);
  return {low, high};
}

}  // namespace doetune::runner
