#include "surfaces/optimum/settings_search.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/parallel.h"
#include "doe/design.h"

namespace doetune::surfaces {
namespace {

constexpr int kRandomPoints = 2'000;
constexpr int kRandomTries = 200'000;     // for regions that forbid most settings
constexpr std::uint64_t kSampleSeed = 1;  // fixed, so that results are reproducible
constexpr long kStrides = 32;             // steps per factor range in moves of two factors
constexpr int kLanes = 64;                // parts of the work, each with its own copy of the region

std::size_t count(const std::vector<Settings>& choices, std::size_t limit) {
  std::size_t product = 1;
  for (const Settings& choice : choices) {
    product *= choice.size();
    if (product > limit) return limit + 1;
  }
  return product;
}

/// At most `most` of the settings, including both ends, evenly spaced in their list.
Settings thinned(const Settings& settings, std::size_t most) {
  if (settings.size() <= most) return settings;
  Settings kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(settings[(settings.size() - 1) * i / (most - 1)]);
  }
  return kept;
}

/// Fewer settings of each factor; with very many factors still more than `points` in total.
std::vector<Settings> fewer_settings(const std::vector<Settings>& choices, std::size_t points) {
  std::vector<Settings> fewer = choices;
  for (std::size_t most = 64; most >= 2 && count(fewer, points) > points; --most) {
    for (std::size_t f = 0; f < choices.size(); ++f) fewer[f] = thinned(choices[f], most);
  }
  return fewer;
}

/// Each factor at any setting or, with probability 1/2, at an end of its range.
Settings random_settings_or_ends(const std::vector<Settings>& choices, RandomStream& random) {
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

/// Up to four settings around one: adjacent, or some thirtieths of the range away.
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

std::size_t blocks_of(std::size_t points) {
  return (points + SettingsSearch::kBlockPoints - 1) / SettingsSearch::kBlockPoints;
}

Eigen::RowVectorXd as_row(const Settings& settings) {
  return Eigen::Map<const Eigen::RowVectorXd>(settings.data(),
                                              static_cast<Eigen::Index>(settings.size()));
}

}  // namespace

Settings Block::settings(Eigen::Index point) const {
  const Eigen::VectorXd row = natural.row(point);
  return {row.begin(), row.end()};
}

std::vector<Settings> usable_choices(const std::vector<doe::Factor>& factors,
                                     const std::map<std::string, double>& hold) {
  std::vector<Settings> choices;
  for (const doe::Factor& factor : factors) {
    const auto held = hold.find(factor.name);
    choices.push_back(held == hold.end() ? factor.usable_settings() : Settings{held->second});
  }
  return choices;
}

Settings random_settings(const std::vector<Settings>& choices, RandomStream& random) {
  Settings settings;
  for (const Settings& choice : choices) settings.push_back(choice[random.below(choice.size())]);
  return settings;
}

SettingsSearch::SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                               const std::map<std::string, double>& hold, std::size_t most,
                               std::size_t coarse)
    : factors_(factors),
      region_(region.for_another_thread()),
      choices_(usable_choices(factors, hold)) {
  exhaustive_ = count(choices_, most) <= most;
  grid_ = exhaustive_ ? choices_ : fewer_settings(choices_, coarse);
  const std::size_t limit = exhaustive_ ? most : coarse;
  grid_points_ = count(grid_, limit) > limit ? 0 : count(grid_, limit);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    Eigen::VectorXd coded(static_cast<Eigen::Index>(grid_[f].size()));
    for (std::size_t i = 0; i < grid_[f].size(); ++i) coded[i] = factors[f].to_coded(grid_[f][i]);
    coded_.push_back(std::move(coded));
  }
  if (!exhaustive_) draw_random_points();
}

SettingsSearch::SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                               const std::vector<Settings>& only)
    : factors_(factors),
      region_(region.for_another_thread()),
      listed_points_(only.size(), factors.size()) {
  for (std::size_t i = 0; i < only.size(); ++i) {
    listed_points_.row(static_cast<Eigen::Index>(i)) = as_row(only[i]);
  }
}

void SettingsSearch::draw_random_points() {
  const auto factors = static_cast<Eigen::Index>(factors_.size());
  listed_points_.resize(kRandomPoints, factors);
  Eigen::Index found = 0;
  const auto add = [&](const Settings& settings) {
    if (!region_.allows(settings)) return;
    listed_points_.row(found++) = as_row(settings);
  };
  Settings centre;
  for (const Settings& choice : choices_) centre.push_back(choice[choice.size() / 2]);
  add(centre);
  RandomStream random(kSampleSeed, 0);
  for (int tries = 0; tries < kRandomTries && found < kRandomPoints; ++tries) {
    add(random_settings_or_ends(choices_, random));
  }
  listed_points_.conservativeResize(found, Eigen::NoChange);
}

std::size_t SettingsSearch::block_count() const {
  return blocks_of(grid_points_) + blocks_of(static_cast<std::size_t>(listed_points_.rows()));
}

Block SettingsSearch::allowed(Eigen::MatrixXd natural, const doe::Region& region) const {
  if (!region.is_box()) {
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < natural.rows(); ++i) {
      const Eigen::VectorXd point = natural.row(i);
      if (region.allows({point.begin(), point.end()})) kept.push_back(i);
    }
    natural = natural(kept, Eigen::all).eval();
  }
  Block block{std::move(natural), {}};
  block.coded.resizeLike(block.natural);
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    const auto column = static_cast<Eigen::Index>(f);
    block.coded.col(column) = block.natural.col(column).unaryExpr(
        [&](double setting) { return factors_[f].to_coded(setting); });
  }
  return block;
}

Block SettingsSearch::block(std::size_t index, const doe::Region& region) const {
  const std::size_t grid_blocks = blocks_of(grid_points_);
  if (index < grid_blocks) return grid_block(index, region);
  const auto first = static_cast<Eigen::Index>((index - grid_blocks) * kBlockPoints);
  const auto points = std::min<Eigen::Index>(kBlockPoints, listed_points_.rows() - first);
  return allowed(listed_points_.middleRows(first, points), region);
}

/// The grid points in order, the first factor changing fastest.
Block SettingsSearch::grid_block(std::size_t index, const doe::Region& region) const {
  const std::size_t factors = factors_.size();
  const std::size_t first = index * kBlockPoints;
  const std::size_t points = std::min(kBlockPoints, grid_points_ - first);
  std::vector<std::size_t> at(factors);
  for (std::size_t f = 0, rest = first; f < factors; rest /= grid_[f].size(), ++f) {
    at[f] = rest % grid_[f].size();
  }
  Block block{Eigen::MatrixXd(points, factors), Eigen::MatrixXd(points, factors)};
  Settings settings(factors);
  Eigen::Index row = 0;
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t f = 0; f < factors; ++f) {
      settings[f] = block.natural(row, f) = grid_[f][at[f]];
      block.coded(row, f) = coded_[f][at[f]];
    }
    if (region.is_box() || region.allows(settings)) ++row;
    for (std::size_t f = 0; f < factors && ++at[f] == grid_[f].size(); ++f) at[f] = 0;
  }
  block.natural.conservativeResize(row, Eigen::NoChange);
  block.coded.conservativeResize(row, Eigen::NoChange);
  return block;
}

void SettingsSearch::for_each(const std::vector<std::size_t>& blocks, int threads,
                              const Body& body) const {
  const auto lanes = static_cast<int>(std::min<std::size_t>(kLanes, blocks.size()));
  parallel_for(lanes, threads, [&](int lane) {
    const doe::Region region = region_.for_another_thread();
    for (auto i = static_cast<std::size_t>(lane); i < blocks.size();
         i += static_cast<std::size_t>(lanes)) {
      body(blocks[i], block(blocks[i], region));
    }
  });
}

void SettingsSearch::for_each(int threads, const Body& body) const {
  std::vector<std::size_t> all(block_count());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for_each(all, threads, body);
}

Block SettingsSearch::all_points() const {
  std::vector<Block> blocks;
  Eigen::Index points = 0;
  for (std::size_t i = 0; i < block_count(); ++i) {
    blocks.push_back(block(i, region_));
    points += blocks.back().size();
  }
  const auto factors = static_cast<Eigen::Index>(factors_.size());
  Block all{Eigen::MatrixXd(points, factors), Eigen::MatrixXd(points, factors)};
  Eigen::Index row = 0;
  for (const Block& block : blocks) {
    all.natural.middleRows(row, block.size()) = block.natural;
    all.coded.middleRows(row, block.size()) = block.coded;
    row += block.size();
  }
  return all;
}

Settings SettingsSearch::improved(Settings start, const Choose& choose, long& evaluations) const {
  while (evaluations > 0) {
    if (move_one_factor(start, choose, evaluations)) continue;
    if (!move_two_factors(start, choose, evaluations)) break;
  }
  return start;
}

bool SettingsSearch::move(Settings& settings, Eigen::MatrixXd trials, const Choose& choose,
                          long& evaluations) const {
  const Block block = allowed(std::move(trials), region_);
  if (block.size() == 0 || evaluations <= 0) return false;
  evaluations -= block.size();
  const std::optional<Eigen::Index> best = choose(block);
  if (best) settings = block.settings(*best);
  return best.has_value();
}

bool SettingsSearch::move_one_factor(Settings& settings, const Choose& choose,
                                     long& evaluations) const {
  bool moved = false;
  for (std::size_t f = 0; f < choices_.size(); ++f) {
    const auto trials = static_cast<Eigen::Index>(choices_[f].size());
    if (trials == 1) continue;
    Eigen::MatrixXd natural = as_row(settings).replicate(trials, 1);
    natural.col(static_cast<Eigen::Index>(f)) = as_row(choices_[f]).transpose();
    moved = move(settings, std::move(natural), choose, evaluations) || moved;
  }
  return moved;
}

bool SettingsSearch::move_pair(Settings& settings, std::size_t f, std::size_t g, bool far,
                               const Choose& choose, long& evaluations) const {
  const Settings of_f = neighbours(choices_[f], settings[f], far);
  const Settings of_g = neighbours(choices_[g], settings[g], far);
  Eigen::MatrixXd natural =
      as_row(settings).replicate(static_cast<Eigen::Index>(of_f.size() * of_g.size()), 1);
  Eigen::Index row = 0;
  for (const double setting_f : of_f) {
    for (const double setting_g : of_g) {
      natural(row, static_cast<Eigen::Index>(f)) = setting_f;
      natural(row++, static_cast<Eigen::Index>(g)) = setting_g;
    }
  }
  return move(settings, std::move(natural), choose, evaluations);
}

bool SettingsSearch::move_two_factors(Settings& settings, const Choose& choose,
                                      long& evaluations) const {
  bool moved = false;
  for (const bool far : {true, false}) {
    for (std::size_t f = 0; f < choices_.size(); ++f) {
      for (std::size_t g = f + 1; g < choices_.size(); ++g) {
        while (move_pair(settings, f, g, far, choose, evaluations)) moved = true;
      }
    }
  }
  return moved;
}

}  // namespace doetune::surfaces
