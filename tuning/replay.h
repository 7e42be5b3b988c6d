// Search strategies against a table of what every configuration measures, many times at once.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "doe/response.h"
#include "tuning/problem.h"

namespace doetune::tuning {

/// A system whose every configuration has been measured, or simulated.
class RecordedSystem {
 public:
  /// The rows are all configurations there are, apart from those that the region excludes; several
  /// rows of the same settings are measurements of one, which can run if all of them completed.
  /// Throws std::invalid_argument if none meets the limits.
  RecordedSystem(Problem problem, const std::vector<Observation>& rows);

  /// Its region allows the table's configurations only.
  const Problem& problem() const { return problem_; }

  /// A run: one of the measurements, each value times 1 + `noise` x a standard normal number.
  Observation run(const Settings& settings, double noise, RandomStream& random) const;

  /// How good settings are in truth, as a fraction of the best in the table: of a maximised
  /// response its mean over the best, of a minimised one the best over its mean, of responses of
  /// either sign the fraction of their range (above 0), and with other goals the ratio of
  /// desirabilities. 0 if they cannot run or do not meet the limits.
  double worth(const Settings& settings) const;

  std::size_t size() const { return rows_->size(); }
  int excluded() const { return excluded_; }  ///< number of rows
  const Settings& settings(std::size_t index) const;

 private:
  struct Row {
    std::vector<Observation> measured;
    double worth = 0;
  };

  Problem problem_;
  std::shared_ptr<std::map<Settings, Row>> rows_;
  int excluded_ = 0;
};

/// tune      a start and then proposals (next_runs), answered by answer(); budgets with the same
///           start_size are stages of one search, others have searches of their own
/// one-shot  all runs space-filling, answered the same way
/// random    configurations drawn at random, answered by the best measured
enum class Strategy { kTune, kOneShot, kRandom };

struct ReplayOptions {
  Strategy strategy = Strategy::kTune;
  std::vector<int> budgets{15, 20, 30, 40, 60};
  int searches = 100;
  double noise = 0;
  int batch = 1;
  int threads = 0;  ///< the result does not depend on it; 0: all hardware threads
  std::function<void()> on_search = {};  ///< called by these threads at the end of each search
};

/// The worth of what was recommended, search by search; 0 where nothing was.
struct ReplayedBudget {
  int runs = 0;
  std::vector<double> worth;

  /// Of the searches, ascending: 0.5 is the median.
  double quantile(double fraction) const;
  int failing() const;  ///< number of searches that recommended what fails, or nothing
};

struct Replayed {
  std::vector<ReplayedBudget> budgets;  ///< in the order of the options
  /// By search of the largest budget: the number of runs after which a run, by its true worth, was
  /// first within 2 % of the best; empty if none was.
  std::vector<std::optional<int>> runs_to_best;
};

Replayed replay(const RecordedSystem& system, const ReplayOptions& options);

}  // namespace doetune::tuning

template <>
inline constexpr std::array<std::string_view, 3> doetune::doe::kWords<doetune::tuning::Strategy>{
    "tune", "one-shot", "random"};
