#include "doe/optimal/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/parallel.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kStartStreams = std::uint64_t{0x6f707469} << 32;
constexpr double kRoughly = 1e-3;   ///< gain at which a search from a random start ends
constexpr double kExactly = 1e-12;  ///< the same for the few best
constexpr int kFirstRound = 64;
constexpr int kMaxInRound = 4096;
constexpr int kPolished = 16;     ///< designs that are improved to the last digit at a time
constexpr int kEnough = 10;       ///< times that the best was found
constexpr int kMinStarts = 1900;  ///< a best that one start in 400 finds is then rarely missed
constexpr double kSame = 1e-6;    ///< of |M|^(1/p), or of the trace: designs that are equally good
constexpr int kMaxStarts = 1'000'000'000;

struct Candidate {
  double value;
  int start;
  Eigen::MatrixXd design;
};

bool better(const Candidate& a, const Candidate& b) {
  return a.value > b.value || (a.value == b.value && a.start < b.start);
}

struct Ended {
  int begun = 0;
  std::vector<Candidate> designs;  ///< but for singular ones
};

class Search {
 public:
  Search(const ExchangeProblem& problem, const SearchSettings& settings,
         const Eigen::MatrixXd& core)
      : problem_(problem), settings_(settings), core_(core), began_(Clock::now()) {
    for (int i = 0; i < thread_count(settings.threads); ++i) {
      problems_.push_back(problem);  // constraints serve one thread at a time
      problems_.back().space = problem.space.for_another_thread();
    }
  }

  std::optional<SearchResult> run() {
    const int most = settings_.starts.value_or(kMaxStarts);
    for (int size = kFirstRound; result_.starts < most && !out_of_time(); size *= 2) {
      round(std::min({size, kMaxInRound, most - result_.starts}));
      const bool enough = result_.best_found >= kEnough && result_.starts >= kMinStarts;
      if (!settings_.starts && enough) break;
    }
    result_.stopped_by_time = result_.starts < most && out_of_time();
    result_.seconds = seconds();
    if (!best_) return std::nullopt;
    result_.design = best_->design;
    result_.value = best_->value;
    return result_;
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool out_of_time() const { return seconds() > settings_.time_limit_s; }

  Eigen::MatrixXd first_design(const SearchSpace& space, int start) const {
    RandomStream random(settings_.seed, kStartStreams + static_cast<std::uint64_t>(start));
    Eigen::MatrixXd design(problem_.runs, space.coordinate_count());
    Eigen::VectorXd row = Eigen::VectorXd::Zero(space.coordinate_count());
    for (int i = 0; i < problem_.runs; ++i) {
      if (!problem_.blocks.empty()) row[row.size() - 1] = problem_.blocks[i];
      space.randomise(row, random);
      design.row(i) = row.transpose();
    }
    const bool from_core = start == 0 || (start % 2 == 0 && core_.rows() < problem_.runs);
    if (from_core && core_.rows() > 0) design.topRows(core_.rows()) = core_;
    return design;
  }

  /// Runs numbered searches on all threads; `first` gives each its design.
  Ended exchange_all(int count, double tolerance,
                     const std::function<ExchangeTask(const SearchSpace&, int)>& first) {
    Ended ended;
    std::mutex mutex;
    std::atomic<int> next = 0;
    std::atomic<int> begun = 0;
    parallel_for(static_cast<int>(problems_.size()), settings_.threads, [&](int worker) {
      const ExchangeProblem& problem = problems_[worker];
      exchange(problem, tolerance,
               {[&]() -> std::optional<ExchangeTask> {
                  const int i = next++;
                  if (i >= count || (i > 0 && out_of_time())) return std::nullopt;
                  ++begun;
                  return first(problem.space, i);
                },
                [&](ExchangeTask task) {
                  const auto value = exact_value(problem, task.design);
                  if (!value) return;
                  const std::lock_guard lock(mutex);
                  ended.designs.push_back({*value, task.number, std::move(task.design)});
                },
                [&] { return out_of_time(); }});
    });
    ended.begun = begun;
    return ended;
  }

  void round(int size) {
    const int first = result_.starts;
    auto [begun, ended] = exchange_all(size, kRoughly, [&](const SearchSpace& space, int i) {
      return ExchangeTask{first + i, first_design(space, first + i)};
    });
    result_.starts += begun;
    std::sort(ended.begin(), ended.end(), better);
    if (!ended.empty()) keep_better(ended.front());
    for (std::size_t i = 0; i < ended.size() && !out_of_time() && polish(ended, i);
         i += kPolished) {
    }
    if (!best_) return;
    result_.best_found =
        std::max(1, static_cast<int>(std::count_if(values_.begin(), values_.end(),
                                                   [&](double value) { return is_best(value); })));
  }

  /// Improves the next few of a round as far as numbers go; says whether the best is among them.
  bool polish(const std::vector<Candidate>& ended, std::size_t first) {
    const auto count = static_cast<int>(std::min<std::size_t>(kPolished, ended.size() - first));
    const std::vector<Candidate> polished =
        exchange_all(count, kExactly, [&](const SearchSpace&, int i) {
          return ExchangeTask{ended[first + i].start, ended[first + i].design};
        }).designs;
    for (const Candidate& candidate : polished) {
      values_.push_back(candidate.value);
      keep_better(candidate);
    }
    return std::any_of(polished.begin(), polished.end(),
                       [&](const Candidate& candidate) { return is_best(candidate.value); });
  }

  void keep_better(const Candidate& candidate) {
    if (!best_ || better(candidate, *best_)) best_ = candidate;
  }

  bool is_best(double value) const {
    const bool root = problem_.criterion == ExactCriterion::kDeterminant;
    return value > best_->value - kSame * (root ? problem_.space.column_count() : 1);
  }

  const ExchangeProblem& problem_;
  const SearchSettings& settings_;
  const Eigen::MatrixXd& core_;
  const Clock::time_point began_;
  std::vector<ExchangeProblem> problems_;  ///< one a thread
  std::vector<double> values_;             ///< of the polished designs
  std::optional<Candidate> best_;
  SearchResult result_;
};

}  // namespace

DesignError nothing_found(int runs) {
  return DesignError(
      fmt::format("no design with {} runs that determines the model was found: the region may be "
                  "too narrow, a factor may have too few settings for its terms, or the time limit "
                  "or the number of starts may be too small",
                  runs));
}

std::optional<SearchResult> search_designs(const ExchangeProblem& problem,
                                           const SearchSettings& settings,
                                           const Eigen::MatrixXd& core) {
  return Search(problem, settings, core).run();
}

}  // namespace doetune::doe
