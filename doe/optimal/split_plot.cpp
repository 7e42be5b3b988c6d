#include "doe/optimal/split_plot.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "doe/parallel.h"

namespace doetune::doe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kStartStreams = std::uint64_t{0x73706c74} << 32;
constexpr int kFirstRound = 64;
constexpr int kMostStarts = 2048;  ///< where their number is left open
constexpr int kEnough = 10;        ///< times that the best was found
constexpr int kMostPasses = 100;
constexpr int kMostTries = 1000;  ///< for a run beside the first of its whole plot
constexpr double kRidge = 1e-3;
constexpr double kSame = 1e-4;  ///< of |M|^(1/p), or of the trace

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
    const int most = settings_.starts.value_or(kMostStarts);
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

  void round(int size) {
    std::vector<std::optional<Candidate>> ended(static_cast<std::size_t>(size));
    std::atomic<int> next = 0;
    parallel_for(static_cast<int>(problems_.size()), settings_.threads, [&](int worker) {
      for (int i = next++; i < size && (i == 0 || !out_of_time()); i = next++) {
        ended[static_cast<std::size_t>(i)] = improved(problems_[worker], result_.starts + i);
      }
    });
    result_.starts += std::min(size, next.load());
    for (std::optional<Candidate>& candidate : ended) {
      if (!candidate) continue;
      values_.push_back(candidate->value);
      if (!best_ || candidate->value > best_->value) best_ = std::move(candidate);
    }
    count_best();
  }

  /// A random start, improved: first with a ridge, for many a start is singular.
  std::optional<Candidate> improved(const SplitPlotProblem& problem, int start) const {
    RandomStream random(settings_.seed, kStartStreams + static_cast<std::uint64_t>(start));
    const auto stop = [&] { return out_of_time(); };
    SplitPlotExchange first(problem, random_design(problem, random), kRidge);
    if (!first.value()) return std::nullopt;
    for (int pass = 0; pass < 2 && first.improve(stop); ++pass) continue;
    SplitPlotExchange exchange(problem, first.design());
    if (!exchange.value()) return std::nullopt;
    for (int pass = 0; pass < kMostPasses && exchange.improve(stop); ++pass) continue;
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
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
      space.randomise(point, random);
      for (std::size_t f = 0; f < problem.hard.size(); ++f) {
        const auto at = static_cast<Eigen::Index>(f);
        if (problem.hard[f]) point[at] = first[at];
      }
      if (space.allows(point)) return point;
    }
    return first;
  }

  void count_best() {
    if (!best_) return;
    const ExchangeProblem& exchange = problems_.front().exchange;
    const bool determinant = exchange.criterion == ExactCriterion::kDeterminant;
    const double digits = determinant ? kSame * exchange.space.column_count() : kSame;
    result_.best_found =
        static_cast<int>(std::count_if(values_.begin(), values_.end(), [&](double value) {
          return value > best_->value - digits;
        }));
  }

  const SearchSettings& settings_;
  const Clock::time_point began_;
  std::vector<SplitPlotProblem> problems_;  ///< one a thread
  std::vector<double> values_;              ///< where the starts ended
  std::optional<Candidate> best_;
  SearchResult result_;
};

}  // namespace

std::optional<SearchResult> search_split_plots(const SplitPlotProblem& problem,
                                               const SearchSettings& settings) {
  return Search(problem, settings).run();
}

}  // namespace doetune::doe
