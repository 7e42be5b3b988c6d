// Multi-start search with a stopping rule.
#pragma once

#include <Eigen/Core>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace doetune::doe {

struct SearchSettings {
  std::optional<int> starts;  ///< empty: until the best was found often enough
  double time_limit_s = 10;
  int threads = 0;  ///< 0: all
  std::uint64_t seed = 0;
};

struct SearchResult {
  Eigen::MatrixXd design;  ///< n x coordinates
  double value = 0;        ///< to be maximised
  int starts = 0;
  int best_found = 0;  ///< starts that reached the best value
  double seconds = 0;
  bool stopped_by_time = false;
};

/// The result of a search from one start.
struct Candidate {
  int start = 0;
  double value = 0;        ///< to be maximised
  Eigen::MatrixXd design;  ///< empty before the search
};

/// A queue of searches from which threads take one after the other.
class SearchTasks {
 public:
  SearchTasks(const std::vector<Candidate>& tasks, std::function<bool()> out_of_time);

  /// The index of the next task; empty if none or no time is left. The first task always runs.
  std::optional<int> next();

  /// Whether the tasks start from given designs rather than random ones.
  bool polishing() const { return tasks_.front().design.size() > 0; }

  const Candidate& operator[](int i) const { return tasks_[static_cast<std::size_t>(i)]; }

  /// Records the result of task i. Called once; not called if no design was found.
  void finish(int i, double value, Eigen::MatrixXd design);

  /// To be polled often: once true, a search ends with its current design.
  bool out_of_time() const { return out_of_time_(); }

  bool any_finished() const { return any_finished_; }

  int begun() const { return begun_; }

  /// The finished tasks, in task order.
  std::vector<Candidate> finished();

 private:
  const std::vector<Candidate>& tasks_;
  std::function<bool()> out_of_time_;
  std::vector<std::optional<Candidate>> ended_;
  std::atomic<int> next_ = 0;
  std::atomic<int> begun_ = 0;
  std::atomic<bool> any_finished_ = false;
};

/// Runs tasks until none is left: rough searches from random starts, thorough ones from given
/// designs.
using SearchWorker = std::function<void(SearchTasks&)>;

/// A multi-start search in rounds: rough searches from all starts of a round, then thorough
/// searches from the best of them ("polishing"), a few at a time until the best design is not among
/// these few.
struct MultiStart {
  int first_round = 64;        ///< starts; each round doubles the number,
  int max_in_round = 1 << 29;  ///< up to this
  int polished_at_once = 16;
  double start_time_fraction = 1;  ///< fraction of the time limit for rough searches; the rest:
                                   ///< polishing
  bool earliest_wins = true;       ///< breaks ties between equal values; otherwise the first one
                                   ///< polished wins

  // If the settings give no number of starts, the search ends
  int max_starts = 1'000'000'000;  ///< after this many, or
  int min_starts = 0;              ///< after this many if the best
  int enough = 10;                 ///< was found this often.

  /// Given the best value, the threshold above which a value counts as the best found again.
  std::function<double(double best)> as_good_above;

  /// If set, rough rather than polished results are counted, and at most polished_at_once of each
  /// round are polished, none with a value below this threshold, given the best rough value.
  std::function<double(double best)> hopeful_from;

  /// Called once per thread, from the caller's thread.
  std::function<SearchWorker()> new_worker;
};

/// The best polished design. Unless time runs out, the result is the same for any number of threads
/// if each task's result depends on that task alone. Empty if no search found a design.
std::optional<SearchResult> search_from_many_starts(const MultiStart& method,
                                                    const SearchSettings& settings);

}  // namespace doetune::doe
