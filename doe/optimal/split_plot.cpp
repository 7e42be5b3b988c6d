#include "doe/optimal/split_plot.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>

#include "base/clock.h"
#include "base/parallel.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kStartStreams = std::uint64_t{0x73706c74} << 32;
constexpr int kFirstRound = 64;
constexpr int kMaxStarts = 4032;  ///< six rounds, where their number is left open
constexpr int kPolished = 16;     ///< designs that are improved to the last digit at a time
constexpr int kEnough = 10;       ///< times that the best was found
constexpr int kMaxPasses = 200;
constexpr int kMaxTries = 1000;     ///< for a run beside the first of its whole plot
constexpr double kRidge = 1e-3;     ///< with which a search from a random start begins
constexpr double kRoughly = 1e-3;   ///< gain at which it ends
constexpr double kExactly = 1e-10;  ///< the same for the few best
constexpr double kSame = 1e-6;  ///< of |M|^(1/p), or of the trace: designs that are equally good

struct Candidate {
  double value;
  Eigen::MatrixXd design;
};

class Search {
 public:
  Search(const SplitPlotProblem& problem, const SearchSettings& settings)
      : settings_(settings), began_(Clock::now()) {
    for (int i = 0; i < thread_count(settings.threads); ++i) {
      problems_.push_back(problem);  // constraints serve one thread at a time
      problems_.back().exchange.space = problem.exchange.space.for_another_thread();
    }
  }

  std::optional<SearchResult> run() {
    const int most = settings_.starts.value_or(kMaxStarts);
    for (int size = kFirstRound; result_.starts < most && !out_of_time(); size *= 2) {
      round(std::min(size, most - result_.starts));
      if (!settings_.starts && result_.best_found >= kEnough) break;
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

  /// So many designs, each made by a call of its own.
  std::vector<Candidate> all(
      int count,
      const std::function<std::optional<Candidate>(const SplitPlotProblem&, int)>& made) {
    std::vector<std::optional<Candidate>> ended(static_cast<std::size_t>(count));
    std::atomic<int> next = 0;
    parallel_for(static_cast<int>(problems_.size()), settings_.threads, [&](int worker) {
      for (int i = next++; i < count && (i == 0 || !out_of_time()); i = next++) {
        ended[static_cast<std::size_t>(i)] = made(problems_[worker], i);
      }
    });
    std::vector<Candidate> found;
    for (std::optional<Candidate>& candidate : ended) {
      if (candidate) found.push_back(std::move(*candidate));
    }
    return found;
  }

  void round(int size) {
    const int first = result_.starts;
    std::vector<Candidate> ended = all(size, [&](const SplitPlotProblem& problem, int i) {
      return from_random(problem, first + i);
    });
    result_.starts += size;
    std::stable_sort(ended.begin(), ended.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
    for (std::size_t i = 0; i < ended.size() && polish(ended, i); i += kPolished) {
    }
    result_.best_found = static_cast<int>(std::count_if(
        values_.begin(), values_.end(), [&](double value) { return is_best(value); }));
  }

  /// Improves the next few of a round as far as numbers go; says whether the best is among them.
  bool polish(const std::vector<Candidate>& ended, std::size_t first) {
    const auto count = static_cast<int>(std::min<std::size_t>(kPolished, ended.size() - first));
    const std::vector<Candidate> polished = all(count, [&](const SplitPlotProblem& problem, int i) {
      return improved(problem, ended[first + static_cast<std::size_t>(i)].design, kExactly);
    });
    for (const Candidate& candidate : polished) {
      values_.push_back(candidate.value);
      if (!best_ || candidate.value > best_->value) best_ = candidate;
    }
    return std::any_of(polished.begin(), polished.end(),
                       [&](const Candidate& candidate) { return is_best(candidate.value); });
  }

  bool is_best(double value) const {
    const ExchangeProblem& exchange = problems_.front().exchange;
    const bool root = exchange.criterion == ExactCriterion::kDeterminant;
    return value > best_->value - kSame * (root ? exchange.space.column_count() : 1);
  }

  /// Many a random start is singular; a ridge gives it a way out.
  std::optional<Candidate> from_random(const SplitPlotProblem& problem, int start) const {
    RandomStream random(settings_.seed, kStartStreams + static_cast<std::uint64_t>(start));
    SplitPlotExchange exchange(problem, random_design(problem, random), kRidge);
    if (!exchange.value()) return std::nullopt;
    const auto stop = [&] { return out_of_time(); };
    for (int pass = 0; pass < 2 && exchange.improve(kRoughly, stop); ++pass) continue;
    return improved(problem, exchange.design(), kRoughly);
  }

  std::optional<Candidate> improved(const SplitPlotProblem& problem, const Eigen::MatrixXd& design,
                                    double min_gain) const {
    const auto stop = [&] { return out_of_time(); };
    SplitPlotExchange exchange(problem, design);
    for (int pass = 0; pass < kMaxPasses && exchange.value() && exchange.improve(min_gain, stop);
         ++pass) {
      continue;
    }
    if (!exchange.value()) return std::nullopt;
    return Candidate{*exchange.value(), exchange.design()};
  }

  static Eigen::MatrixXd random_design(const SplitPlotProblem& problem, RandomStream& random) {
    const SearchSpace& space = problem.exchange.space;
    Eigen::MatrixXd design(problem.exchange.runs, space.coordinate_count());
    Eigen::VectorXd first = Eigen::VectorXd::Zero(space.coordinate_count());
    Eigen::Index row = 0;
    for (const int size : problem.sizes) {
      space.randomise(first, random);
      design.row(row++) = first.transpose();
      for (int i = 1; i < size; ++i) {
        design.row(row++) = beside(problem, first, random).transpose();
      }
    }
    return design;
  }

  /// A random allowed run with the hard-to-change settings of another, or that run itself.
  static Eigen::VectorXd beside(const SplitPlotProblem& problem, const Eigen::VectorXd& first,
                                RandomStream& random) {
    const SearchSpace& space = problem.exchange.space;
    Eigen::VectorXd point = first;
    for (int attempt = 0; attempt < kMaxTries; ++attempt) {
      space.randomise(point, random);
      for (std::size_t f = 0; f < problem.hard.size(); ++f) {
        const auto at = static_cast<Eigen::Index>(f);
        if (problem.hard[f]) point[at] = first[at];
      }
      if (space.allows(point)) return point;
    }
    return first;
  }

  const SearchSettings& settings_;
  const Clock::time_point began_;
  std::vector<SplitPlotProblem> problems_;  ///< one a thread
  std::vector<double> values_;              ///< of the polished designs
  std::optional<Candidate> best_;
  SearchResult result_;
};

}  // namespace

std::optional<SearchResult> search_split_plots(const SplitPlotProblem& problem,
                                               const SearchSettings& settings) {
  return Search(problem, settings).run();
}

}  // namespace doetune::doe
