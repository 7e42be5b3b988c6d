#include "doe/space_filling/maximin_latin.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "doe/space_filling/latin_distances.h"

namespace doetune::doe {
namespace {

constexpr int kLatinStartsPerRound = 8;
constexpr int kDefaultLatinStarts = 4 * kLatinStartsPerRound;
constexpr int kFirstSteps = 100'000;      // of an annealing in the first round
constexpr int kLatinStepsPerStage = 100;  // at one temperature
constexpr int kWorthLooking = 8;
constexpr int kLatticeTries = 2000;
// Temperatures in units of the root of the distance bound, about the spread of pair distances.
constexpr double kLatinHot = 1;
constexpr double kLatinCold = 0.02;

struct Found {
  Eigen::MatrixXi levels;
  int distance = 0;
  bool preferred = true;

  std::pair<bool, int> rank() const { return {preferred, distance}; }
};

class LatinAnnealing {
 public:
  LatinAnnealing(Eigen::MatrixXi levels, bool symmetric, int aim, RandomStream random)
      : state_(std::move(levels)), symmetric_(symmetric), random_(random) {
    best_ = {state_.levels(), state_.min_distance()};
    raise_aim(std::max(aim, best_.distance + 1));
  }

  Found run(int steps, const Stopwatch& stopwatch) {
    const double unit =
        std::sqrt(static_cast<double>(latin_distance_bound(state_.runs(), state_.factors())));
    const int stages = std::max(1, steps / kLatinStepsPerStage);
    for (int stage = 0; stage < stages && !stopwatch.expired(); ++stage) {
      temperature_ =
          unit * kLatinHot * std::pow(kLatinCold / kLatinHot, static_cast<double>(stage) / stages);
      for (int step = 0; step < kLatinStepsPerStage; ++step) move();
    }
    return best_;
  }

 private:
  void raise_aim(int aim) {
    state_.aim_at(aim);
    energy_ = state_.energy();
  }

  bool accepts(int change) {
    return change <= 0 || random_.uniform() < std::exp(-change / temperature_);
  }

  void move() {
    // Symmetric hypercubes move in mirrored pairs; the centre of an odd one is fixed.
    const int movable = symmetric_ ? state_.runs() / 2 * 2 : state_.runs();
    const int a = pick(movable, random_);
    int b = pick(movable - 1, random_);
    if (b >= a) ++b;
    const int column = pick(state_.factors(), random_);
    int change = state_.swap_change(a, b, column);
    if (symmetric_ && (a ^ 1) != b) {
      state_.swap(a, b, column);
      change += state_.swap_change(a ^ 1, b ^ 1, column);
      state_.swap(a ^ 1, b ^ 1, column);
      if (!accepts(change)) {
        state_.swap(a ^ 1, b ^ 1, column);
        state_.swap(a, b, column);
        return;
      }
    } else {
      if (!accepts(change)) return;
      state_.swap(a, b, column);
    }
    energy_ += change;
    if (change < 0) keep_best();
  }

  void keep_best() {
    // A pair no farther apart than the best distance lacks this much; while the total lack is many
    // times that, computing the minimum distance is not worthwhile.
    if (energy_ >= kWorthLooking * (state_.aim() - best_.distance)) return;
    if (const int distance = state_.min_distance(); distance > best_.distance) {
      best_ = {state_.levels(), distance};
    }
    if (energy_ == 0) raise_aim(best_.distance + 1);
  }

  LatinDistances state_;
  bool symmetric_;
  RandomStream random_;
  Found best_;
  std::int64_t energy_ = 0;
  double temperature_ = 0;
};

/// Targets spread from just above the best so far to a few percent more: the attainable distance is
/// unknown, and a target far from it is a poor guide.
int aim_of(int best, int start) {
  return best + 1 + start % kLatinStartsPerRound / 2 * std::max(1, best / 100);
}

Found anneal(int runs, int factors, int start, bool may_be_symmetric, int best,
             const SearchEffort& effort, const Stopwatch& stopwatch) {
  RandomStream random(effort.seed, static_cast<std::uint64_t>(start) + 1);
  const bool symmetric = may_be_symmetric && start % 2 == 1 && runs > 3;
  Eigen::MatrixXi levels = symmetric ? random_symmetric_latin(runs, factors, random)
                                     : random_latin(runs, factors, random);
  const int doublings = std::min(start / kLatinStartsPerRound, 12);
  return LatinAnnealing(std::move(levels), symmetric, aim_of(best, start), random)
      .run(kFirstSteps << doublings, stopwatch);
}

}  // namespace

MaximinLatin maximin_latin(int runs, int factors, const SearchEffort& effort,
                           const std::function<bool(const Eigen::MatrixXi&)>& prefers) {
  const Stopwatch stopwatch(effort.time_limit_s);
  const int starts = effort.starts.value_or(kDefaultLatinStarts);
  RandomStream random(effort.seed, 0);
  const auto measured = [&](const Eigen::MatrixXi& levels) {
    return Found{levels, LatinDistances(levels).min_distance(), !prefers || prefers(levels)};
  };
  Found best = measured(random_latin(runs, factors, random));
  if (const auto lattice = best_lattice(runs, factors, kLatticeTries, random); lattice.size() > 0) {
    if (Found found = measured(lattice); found.rank() > best.rank()) best = std::move(found);
  }
  RandomStream other(effort.seed, std::numeric_limits<std::uint64_t>::max());
  const bool may_be_symmetric = !prefers || prefers(random_symmetric_latin(runs, factors, other));
  std::vector<Found> all;
  while (static_cast<int>(all.size()) < starts && !stopwatch.expired()) {
    const int first = static_cast<int>(all.size());
    std::vector<Found> round(std::min(kLatinStartsPerRound, starts - first));
    parallel_for(static_cast<int>(round.size()), effort.threads, [&](int i) {
      round[i] =
          anneal(runs, factors, first + i, may_be_symmetric, best.distance, effort, stopwatch);
      round[i].preferred = !prefers || prefers(round[i].levels);
    });
    for (Found& found : round) {
      if (found.rank() > best.rank()) best = found;
      all.push_back(std::move(found));
    }
  }
  MaximinLatin result{best.levels, best.distance, {}};
  result.search.criterion = "smallest distance of two points of the unit cube";
  result.search.best = std::sqrt(static_cast<double>(best.distance)) / (runs - 1);
  result.search.bound =
      std::sqrt(static_cast<double>(latin_distance_bound(runs, factors))) / (runs - 1);
  result.search.starts = static_cast<int>(all.size());
  result.search.best_found = static_cast<int>(std::count_if(
      all.begin(), all.end(), [&](const Found& found) { return found.rank() == best.rank(); }));
  result.search.seconds = stopwatch.seconds();
  result.search.stopped_by_time = stopwatch.expired() || result.search.starts < starts;
  return result;
}

}  // namespace doetune::doe
