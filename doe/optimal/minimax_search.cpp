#include "doe/optimal/minimax_search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/parallel.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kStartStreams = std::uint64_t{0x6d696e6d} << 32;
constexpr Sharpening kRough{5, 5, 3125};
constexpr Sharpening kRefined{15625, 5, 390625};
constexpr Sharpening kSettled{500, 5, 12500};
constexpr double kRoughly = 1e-3;     ///< relative: how far a rough descent ends from its goal
constexpr double kRoughShare = 0.85;  ///< of the time limit; the rest is for refinement
constexpr int kFirstRound = 8;
constexpr int kMaxInRound = 1024;
constexpr int kRefinedInRound = 4;
constexpr int kEnough = 10;      ///< times that the best was found
constexpr int kFewStarts = 100;  ///< too few to be sure of, where they are cheap
constexpr int kMaxStarts = 1'000'000'000;

struct Candidate {
  double value;  ///< largest d
  int start;
  Eigen::MatrixXd design;
};

bool better(const Candidate& a, const Candidate& b) {
  return a.value < b.value || (a.value == b.value && a.start < b.start);
}

class Search {
 public:
  Search(const MinimaxProblem& problem, const SearchSettings& settings)
      : settings_(settings), began_(Clock::now()) {
    for (int i = 0; i < thread_count(settings.threads); ++i) {
      problems_.push_back(problem);  // constraints serve one thread at a time
      problems_.back().finder = problem.finder.for_another_thread();
    }
  }

  std::optional<SearchResult> run() {
    const int most = settings_.starts.value_or(kMaxStarts);
    for (int size = kFirstRound; result_.starts < most && !out_of_time(kRoughShare); size *= 2) {
      round(std::min({size, kMaxInRound, most - result_.starts}));
      if (!settings_.starts && result_.starts > kFewStarts && result_.best_found >= kEnough) break;
    }
    result_.stopped_by_time = out_of_time(kRoughShare) && result_.starts < most;
    result_.seconds = seconds();
    if (!best_) return std::nullopt;
    result_.design = best_->design;
    result_.value = -std::log(best_->value);
    return result_;
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool out_of_time(double share) const { return seconds() > share * settings_.time_limit_s; }

  Eigen::MatrixXd random_design(const MinimaxProblem& problem, int start) const {
    const SearchSpace& space = problem.finder.space();
    RandomStream random(settings_.seed, kStartStreams + static_cast<std::uint64_t>(start));
    Eigen::MatrixXd design(problem.runs, space.coordinate_count());
    Eigen::VectorXd row(space.coordinate_count());
    for (int i = 0; i < problem.runs; ++i) {
      space.randomise(row, random);
      design.row(i) = row.transpose();
    }
    return design;
  }

  /// Descends from `count` designs on all threads; `first` says from which, `descend` how.
  std::vector<Candidate> descend_all(
      int count, double share, const std::function<Candidate(const MinimaxProblem&, int)>& first,
      const std::function<void(MinimaxDescent&)>& descend) {
    std::vector<Candidate> ended;
    std::mutex mutex;
    int next = 0;
    parallel_for(static_cast<int>(problems_.size()), settings_.threads, [&](int worker) {
      for (;;) {
        std::unique_lock lock(mutex);
        const int i = next++;
        if (i >= count || (i > 0 && out_of_time(share))) return;
        lock.unlock();
        Candidate candidate = first(problems_[worker], i);
        MinimaxDescent descent(problems_[worker], std::move(candidate.design),
                               [&] { return out_of_time(share); });
        descend(descent);
        lock.lock();
        if (!std::isfinite(descent.value())) continue;
        ended.push_back({descent.value(), candidate.start, descent.design()});
      }
    });
    std::sort(ended.begin(), ended.end(), better);
    return ended;
  }

  void round(int size) {
    const int first = result_.starts;
    std::vector<Candidate> ended = descend_all(
        size, kRoughShare,
        [&](const MinimaxProblem& problem, int i) {
          return Candidate{0, first + i, random_design(problem, first + i)};
        },
        [](MinimaxDescent& descent) { descent.descend(kRough); });
    result_.starts += size;
    if (ended.empty()) return;
    for (const Candidate& candidate : ended) values_.push_back(candidate.value);
    const double least = std::ranges::min(values_);
    result_.best_found = static_cast<int>(std::ranges::count_if(
        values_, [&](double value) { return value < least * (1 + kRoughly); }));
    std::erase_if(ended, [&](const Candidate& candidate) {
      return candidate.value > least * (1 + 2 * kRoughly);
    });
    refine(ended);
  }

  /// The few best of a round, if they may become the best of all, to the last digit and with usable
  /// settings.
  void refine(const std::vector<Candidate>& rough) {
    const int count = std::min(static_cast<int>(rough.size()), kRefinedInRound);
    std::vector<Candidate> refined = descend_all(
        count, 1, [&](const MinimaxProblem&, int i) { return rough[i]; },
        [](MinimaxDescent& descent) {
          descent.descend(kRefined);
          descent.settle(kSettled);
        });
    if (refined.empty()) return;
    if (!best_ || better(refined[0], *best_)) best_ = std::move(refined[0]);
  }

  const SearchSettings& settings_;
  const Clock::time_point began_;
  std::vector<MinimaxProblem> problems_;  ///< one a thread
  std::vector<double> values_;            ///< where the starts ended
  std::optional<Candidate> best_;
  SearchResult result_;
};

}  // namespace

std::optional<SearchResult> search_minimax(const MinimaxProblem& problem,
                                           const SearchSettings& settings) {
  return Search(problem, settings).run();
}

}  // namespace doetune::doe
