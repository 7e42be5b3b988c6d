#include "surfaces/search/settings_search.h"

#include <algorithm>
#include <cstdint>

#include "doe/random.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMostEnumerated = 2'000'000;
constexpr std::size_t kCoarsePoints = 200'000;
constexpr int kRandomPoints = 2'000;
constexpr int kRandomTries = 200'000;  // in a region that forbids most settings
constexpr std::uint64_t kSeed = 1;     // the same settings are found every time
constexpr long kStrides = 32;          // of a factor's range, in moves of two factors

std::size_t count(const std::vector<Settings>& choices, std::size_t limit) {
  std::size_t product = 1;
  for (const Settings& choice : choices) {
    product *= choice.size();
    if (product > limit) return limit + 1;
  }
  return product;
}

/// At most `most` of the settings, with both ends, evenly spread over their list.
Settings thinned(const Settings& settings, std::size_t most) {
  if (settings.size() <= most) return settings;
  Settings kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(settings[(settings.size() - 1) * i / (most - 1)]);
  }
  return kept;
}

/// Fewer settings of each factor; with very many factors still more than kCoarsePoints together.
std::vector<Settings> coarse(const std::vector<Settings>& choices) {
  std::vector<Settings> fewer = choices;
  for (std::size_t most = 64; most >= 2 && count(fewer, kCoarsePoints) > kCoarsePoints; --most) {
    for (std::size_t f = 0; f < choices.size(); ++f) fewer[f] = thinned(choices[f], most);
  }
  return fewer;
}

/// Every factor at any setting, or at an end of its range as a coin falls.
Settings random_settings(const std::vector<Settings>& choices, doe::RandomStream& random) {
  Settings settings;
  for (const Settings& choice : choices) {
    if (random.below(2) == 0) {
      settings.push_back(choice[random.below(choice.size())]);
    } else {
      settings.push_back(random.below(2) == 0 ? choice.front() : choice.back());
    }
  }
  return settings;
}

/// Up to four settings around one, next to it or some thirtieths of the range away.
Settings neighbours(const Settings& choice, double setting, bool far) {
  const auto size = static_cast<long>(choice.size());
  const long at = std::lower_bound(choice.begin(), choice.end(), setting) - choice.begin();
  const long stride = far ? std::max(1L, size / kStrides) : 1;
  Settings found;
  for (const long step : {-2, -1, 1, 2}) {
    const long index = at + step * stride;
    if (index >= 0 && index < size) found.push_back(choice[static_cast<std::size_t>(index)]);
  }
  return found;
}

}  // namespace

SettingsSearch::SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                               const std::map<std::string, double>& hold)
    : region_(region) {
  for (const doe::Factor& factor : factors) {
    const auto held = hold.find(factor.name);
    choices_.push_back(held == hold.end() ? factor.usable_settings() : Settings{held->second});
  }
}

bool SettingsSearch::is_exhaustive() const {
  return count(choices_, kMostEnumerated) <= kMostEnumerated;
}

void SettingsSearch::for_each(const std::function<void(const Settings&)>& visit) const {
  if (is_exhaustive()) return for_each_of(choices_, visit);
  const std::vector<Settings> grid = coarse(choices_);
  if (count(grid, kCoarsePoints) <= kCoarsePoints) for_each_of(grid, visit);
  for_each_random(visit);
}

void SettingsSearch::for_each_of(const std::vector<Settings>& choices,
                                 const std::function<void(const Settings&)>& visit) const {
  std::vector<std::size_t> at(choices.size(), 0);
  Settings settings(choices.size());
  const bool box = region_.is_box();
  while (true) {
    for (std::size_t f = 0; f < choices.size(); ++f) settings[f] = choices[f][at[f]];
    if (box || region_.allows(settings)) visit(settings);
    std::size_t f = 0;
    while (f < choices.size() && ++at[f] == choices[f].size()) at[f++] = 0;
    if (f == choices.size()) return;
  }
}

void SettingsSearch::for_each_random(const std::function<void(const Settings&)>& visit) const {
  Settings centre;
  for (const Settings& choice : choices_) centre.push_back(choice[choice.size() / 2]);
  if (region_.allows(centre)) visit(centre);
  doe::RandomStream random(kSeed, 0);
  int found = 0;
  for (int tries = 0; tries < kRandomTries && found < kRandomPoints; ++tries) {
    const Settings settings = random_settings(choices_, random);
    if (!region_.allows(settings)) continue;
    visit(settings);
    ++found;
  }
}

bool SettingsSearch::move_one_factor(Settings& settings, const Move& move) const {
  bool moved = false;
  for (std::size_t f = 0; f < choices_.size(); ++f) {
    Settings trial = settings;
    for (const double setting : choices_[f]) {
      trial[f] = setting;
      if (setting == settings[f] || !move(trial)) continue;
      settings = trial;
      moved = true;
    }
  }
  return moved;
}

bool SettingsSearch::move_two_factors(Settings& settings, const Move& move) const {
  bool moved = false;
  for (const bool far : {true, false}) {
    for (std::size_t f = 0; f < choices_.size(); ++f) {
      for (std::size_t g = f + 1; g < choices_.size(); ++g) {
        while (move_pair(settings, f, g, far, move)) moved = true;
      }
    }
  }
  return moved;
}

bool SettingsSearch::move_pair(Settings& settings, std::size_t f, std::size_t g, bool far,
                               const Move& move) const {
  const std::vector<double> of_f = neighbours(choices_[f], settings[f], far);
  const std::vector<double> of_g = neighbours(choices_[g], settings[g], far);
  Settings trial = settings;
  for (const double setting_f : of_f) {
    for (const double setting_g : of_g) {
      trial[f] = setting_f;
      trial[g] = setting_g;
      if (!move(trial)) continue;
      settings = trial;
      return true;
    }
  }
  return false;
}

}  // namespace doetune::surfaces
