#include "doe/optimal/multi_start.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/parallel.h"

namespace doetune::doe {
namespace {

class Rounds {
 public:
  Rounds(const MultiStart& method, const SearchSettings& settings)
      : method_(method), settings_(settings) {
    for (int i = 0; i < thread_count(settings.threads); ++i) {
      workers_.push_back(method.new_worker());
    }
  }

  std::optional<SearchResult> run() {
    const int max_starts = settings_.starts.value_or(method_.max_starts);
    const double share = method_.start_time_fraction;
    int size = std::min(method_.first_round, method_.max_in_round);
    do {  // at least one start, whatever the time limit
      round(std::min(size, max_starts - result_.starts));
      size = std::min(2 * size, method_.max_in_round);
    } while (result_.starts < max_starts && !out_of_time(share) && !found_enough());
    result_.stopped_by_time = result_.starts < max_starts && out_of_time(share);
    result_.seconds = seconds_since(began_);
    if (!best_) return std::nullopt;
    result_.design = best_->design;
    result_.value = best_->value;
    return result_;
  }

 private:
  bool out_of_time(double share) const {
    return seconds_since(began_) > share * settings_.time_limit_s;
  }

  bool found_enough() const {
    return !settings_.starts && result_.starts >= method_.min_starts &&
           result_.best_found >= method_.enough;
  }

  std::pair<std::vector<Candidate>, int> run_all(const std::vector<Candidate>& starts,
                                                 double share) {
    SearchTasks tasks(starts, [&] { return out_of_time(share); });
    parallel_for(static_cast<int>(workers_.size()), settings_.threads,
                 [&](int worker) { workers_[static_cast<std::size_t>(worker)](tasks); });
    return {tasks.finished(), tasks.begun()};
  }

  void round(int size) {
    std::vector<Candidate> starts(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) starts[static_cast<std::size_t>(i)].start = result_.starts + i;
    auto [ended, begun] = run_all(starts, method_.start_time_fraction);
    result_.starts += begun;
    std::ranges::stable_sort(ended, std::greater<>(), &Candidate::value);
    if (method_.hopeful_from) {
      count(ended);
      const double hopeful = method_.hopeful_from(best_value_);
      std::erase_if(ended, [&](const Candidate& rough) { return rough.value < hopeful; });
    } else if (!best_ && !ended.empty() && out_of_time(1)) {
      best_ = ended.front();  // one start took all the time: use its result
      ended.resize(1);
      count(ended);
      ended.clear();
    }
    for (auto next = ended.cbegin(); next != ended.cend();) {
      const auto few = std::min<std::ptrdiff_t>(method_.polished_at_once, ended.cend() - next);
      const bool more = polish({next, next + few});
      if (!more || out_of_time(1)) break;
      next += few;
    }
    result_.best_found = static_cast<int>(
        std::ranges::count_if(values_, [&](double value) { return is_best(value); }));
  }

  /// Returns whether the next few should be polished too.
  bool polish(const std::vector<Candidate>& rough) {
    const std::vector<Candidate> polished = run_all(rough, 1).first;
    for (const Candidate& candidate : polished) {
      if (!best_ || better(candidate, *best_)) best_ = candidate;
    }
    if (method_.hopeful_from) return false;
    count(polished);
    return std::ranges::any_of(
        polished, [&](const Candidate& candidate) { return is_best(candidate.value); });
  }

  bool better(const Candidate& a, const Candidate& b) const {
    return a.value > b.value || (method_.earliest_wins && a.value == b.value && a.start < b.start);
  }

  void count(const std::vector<Candidate>& candidates) {
    for (const Candidate& candidate : candidates) {
      values_.push_back(candidate.value);
      best_value_ = std::max(best_value_, candidate.value);
    }
  }

  bool is_best(double value) const { return value > method_.as_good_above(best_value_); }

  const MultiStart& method_;
  const SearchSettings& settings_;
  const Clock::time_point began_ = Clock::now();
  std::vector<SearchWorker> workers_;
  std::vector<double> values_;  ///< the values that best_found is counted from
  double best_value_ = -std::numeric_limits<double>::infinity();
  std::optional<Candidate> best_;
  SearchResult result_;
};

}  // namespace

SearchTasks::SearchTasks(const std::vector<Candidate>& tasks, std::function<bool()> out_of_time)
    : tasks_(tasks), out_of_time_(std::move(out_of_time)), ended_(tasks.size()) {}

std::optional<int> SearchTasks::next() {
  const int i = next_++;
  if (i >= static_cast<int>(tasks_.size()) || (i > 0 && out_of_time())) return std::nullopt;
  ++begun_;
  return i;
}

void SearchTasks::finish(int i, double value, Eigen::MatrixXd design) {
  ended_[static_cast<std::size_t>(i)] = {(*this)[i].start, value, std::move(design)};
  any_finished_ = true;
}

std::vector<Candidate> SearchTasks::finished() {
  std::vector<Candidate> finished;
  for (std::optional<Candidate>& candidate : ended_) {
    if (candidate) finished.push_back(std::move(*candidate));
  }
  return finished;
}

std::optional<SearchResult> search_from_many_starts(const MultiStart& method,
                                                    const SearchSettings& settings) {
  return Rounds(method, settings).run();
}

}  // namespace doetune::doe
