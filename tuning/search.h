// The steps of a search in a study directory: which runs come next, and when it ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "study/directory/directory.h"
#include "study/directory/search_state.h"
#include "study/run_record.h"
#include "tuning/proposal.h"
#include "tuning/search_limits.h"

namespace doetune::tuning {

/// A run to make, and if it was just proposed, why.
struct NextRun {
  study::PlannedRun run;
  std::optional<Proposal> proposal = {};
};

/// The number of runs to propose at a time: `jobs`; times kRunsOfPlot where a server is set up for
/// each whole plot, since it ends with the batch.
constexpr int kRunsOfPlot = 4;
int default_batch(const study::Study& study, int jobs);

/// Throws if runs of this plan cannot be executed.
using PlanCheck = std::function<void(const study::Plan&)>;

/// Creates the study directory of a search with its first runs, if they pass the check. Throws
/// study::StudyError, also for a design with more runs than the budget, and study::DirectoryError.
study::StudyDirectory create_search(const std::filesystem::path& path, const study::Study& study,
                                    int budget, const PlanCheck& check = {});

/// Throws study::StudyError if runs of the start are still to be made and exceed the budget.
void check_budget(const study::StudyDirectory& directory, int budget);

/// A search that goes on in its directory, and the keys of the study that were edited since.
struct ContinuedSearch {
  study::StudyDirectory directory;
  std::vector<std::string> edited;
};

/// Opens the directory of a search of this study, as it is now: if the study `is_latest`, what can
/// be changed after planning is written to the directory's study.yaml, and a search that has ended
/// goes on with it; else the directory's own edits stay. Throws study::StudyError if they differ in
/// anything else, and study::DirectoryError.
ContinuedSearch continue_search(const std::filesystem::path& path, const study::Study& study,
                                bool is_latest);

/// Begins a search with `create`, which calls create_search, or continues the one in the directory,
/// also where another process creates it meanwhile. The study `is_latest` if its file, given one,
/// is newer than the directory's. Throws what `create` and continue_search do.
ContinuedSearch begin_search(const std::filesystem::path& path, const study::Study& study,
                             const std::optional<std::filesystem::path>& file,
                             const std::function<study::StudyDirectory()>& create);

/// Runs of the plan that have no record yet, at most `most`.
std::vector<NextRun> pending_runs(const study::StudyDirectory& directory, int most);

/// Appends runs to the plan until there are `runs` at the optimum, and as many at the baseline if
/// it may be run. Returns the numbers of all of them; empty if no settings meet the goals.
std::vector<int> plan_confirmation(study::StudyDirectory& directory, int runs);

/// The number of confirmation runs that each of the settings should have, where those made show
/// neither a gain over the baseline nor none: twice as many, or what the limits leave if that is at
/// least half as many again. Only once: each look at an interval may show a gain by chance. 0 if
/// there should be none.
int more_confirmations(const study::StudyDirectory& directory, const SearchLimits& limits);

/// Proposes runs until the limits are reached, or little more is to be gained. The limits, and how
/// far it is, are kept in the directory: a search that is interrupted goes on as if it had not
/// been.
class Search {
 public:
  Search(const study::StudyDirectory& directory, const SearchLimits& limits);

  /// The number of runs that may still be made before the confirmation runs.
  int runs_left(const study::StudyDirectory& directory) const;

  /// Appends the next runs to the plan, at most `batch`, and of at most `jobs` whole plots. Empty
  /// if the search ends: five times in a row a run was expected to gain less than the tolerance,
  /// as often, as long as none did so, to complete and meet the limits with less than 5 %, no goal
  /// has varied in the start and five runs more (both unless the tolerance is 0), every
  /// configuration has been tried, or no run, or, as runs take on average, no time, GPU time or
  /// energy is left but for the confirmation, as long as there is something to confirm. All runs of
  /// the plan must have been made. After a confirmation one such gain is enough, unless the runs
  /// there contradicted the prediction.
  std::vector<NextRun> propose(study::StudyDirectory& directory, int batch);

  /// The number of confirmation runs of each of the settings to confirm: no more than SearchLimits
  /// says, no more than a quarter of its other limits pays for (but at least one), and no more than
  /// what is left of all of them pays for. At least one where a confirmation has been begun.
  int confirmations(const study::StudyDirectory& directory) const;

  /// Whether the limits on time, GPU time and energy leave enough for another run.
  bool has_means(const study::StudyDirectory& directory) const;

  /// Why the search ended, as a clause.
  const std::string& reason() const { return state_.end; }

 private:
  std::vector<NextRun> ends(const study::StudyDirectory& directory, std::string reason);
  std::vector<Proposal> proposals(const study::StudyDirectory& directory, int batch) const;

  /// How many runs of a batch there are means for; 0: why there are none.
  std::pair<int, std::string> affordable(const study::StudyDirectory& directory,
                                         const SearchLimits& limits, int batch) const;

  SearchLimits limits_;
  study::SearchState state_;
};

/// The runs of a search that its user is to make next.
struct NextRuns {
  std::vector<NextRun> runs;  ///< those left of a batch that was returned before, or new ones
  std::string end;            ///< why the search ended: without runs there is nothing left to do,
                              ///< with runs these confirm what it found
  bool gave_up = false;       ///< its first runs have failed, all alike
};

/// The next steps of the search that `doetune tune` makes: pending_runs(); without any, what Search
/// proposes; at its end the runs that confirm, unless the front is wanted; more_confirmations() of
/// them; and if they contradict the prediction, proposals again. A search that is over goes on if
/// it is given other limits. None where the first three runs have failed alike, unless the study
/// sets `on_failure: continue`. Throws like check_budget, and study::DirectoryInUse while others
/// make the pending runs.
NextRuns next_of_search(study::StudyDirectory& directory, const SearchLimits& limits, int batch);

}  // namespace doetune::tuning
