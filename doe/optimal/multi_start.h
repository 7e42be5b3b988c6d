// Searches from many random starts, and the judgement whether more would help.
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
  double value = 0;        ///< to be large
  int starts = 0;
  int best_found = 0;  ///< starts that ended as good as the best
  double seconds = 0;
  bool stopped_by_time = false;
};

/// The design at which a search from one start ended.
struct Candidate {
  int start = 0;
  double value = 0;        ///< to be large
  Eigen::MatrixXd design;  ///< empty before the search
};

/// Searches that threads share: each takes one after the other.
class SearchTasks {
 public:
  SearchTasks(const std::vector<Candidate>& tasks, std::function<bool()> out_of_time);

  /// The number of the next task; empty where none is left, or no time. The first always runs.
  std::optional<int> next();

  /// Whether the tasks begin at designs that were found, not at random ones.
  bool polishing() const { return tasks_.front().design.size() > 0; }

  const Candidate& operator[](int i) const { return tasks_[static_cast<std::size_t>(i)]; }

  /// The end of task i, called once; never for one that found no design.
  void finish(int i, double value, Eigen::MatrixXd design);

  /// To be asked often: where true, a search ends at the design it has.
  bool out_of_time() const { return out_of_time_(); }

  int begun() const { return begun_; }

  /// What was finished, in the order of the tasks.
  std::vector<Candidate> finished();

 private:
  const std::vector<Candidate>& tasks_;
  std::function<bool()> out_of_time_;
  std::vector<std::optional<Candidate>> ended_;
  std::atomic<int> next_ = 0;
  std::atomic<int> begun_ = 0;
};

/// Takes tasks until none is left: rough searches from random starts, thorough ones from designs.
using SearchWorker = std::function<void(SearchTasks&)>;

/// A search from many starts, in rounds: all starts of a round roughly, then the best of them
/// thoroughly ("polished"), a few at a time for as long as the best of all is among these few.
struct MultiStart {
  int first_round = 64;        ///< starts; each round has twice as many as the one before,
  int max_in_round = 1 << 29;  ///< up to this
  int polished_at_once = 16;
  double start_time_share = 1;  ///< of the time limit, for rough searches; the rest: polishing
  bool earliest_wins = true;    ///< among equal values; otherwise the one polished first

  // Where the settings name no number of starts, the search ends
  int max_starts = 1'000'000'000;  ///< after so many, or
  int min_starts = 0;              ///< after so many, if the best
  int enough = 10;                 ///< was found so often.

  /// Values above this count as the best found again; from the best value.
  std::function<double(double best)> as_good_above;

  /// Where set, the ends of rough searches are counted instead of polished ones, and of each round
  /// no more than polished_at_once are polished, of values not below this; from the best rough
  /// value.
  std::function<double(double best)> hopeful_from;

  /// Called once for each thread, by the caller's thread.
  std::function<SearchWorker()> new_worker;
};

/// The best polished design. Unless time runs out, the result is the same for any number of
/// threads, if each task's end depends on that task alone. Empty where no search found a design.
std::optional<SearchResult> search_from_many_starts(const MultiStart& method,
                                                    const SearchSettings& settings);

}  // namespace doetune::doe
