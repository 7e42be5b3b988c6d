#include "cli/runs/runs_in_progress.h"

#include <algorithm>
#include <map>

#include "runner/attempts/attempt.h"
#include "study/directory/journal.h"

namespace doetune::cli {
namespace {

/// The last attempt of each run in the journal, whether its record belongs to the run sheet or not.
std::map<int, int> recorded_attempts(const study::StudyDirectory& directory) {
  const study::JournalContent journal = study::read_journal(directory);
  std::map<int, int> last;
  for (const auto* records : {&journal.records, &journal.left_out}) {
    for (const study::RunRecord& record : *records) {
      last[record.run] = std::max(last[record.run], record.attempt);
    }
  }
  return last;
}

}  // namespace

std::vector<RunInProgress> runs_in_progress(const study::StudyDirectory& directory) {
  std::vector<RunInProgress> runs;
  const auto planned = static_cast<int>(directory.plan.runs.size());
  std::map<int, int> recorded = recorded_attempts(directory);
  for (const auto& [run, numbers] : runner::attempt_directories(directory.path / "runs")) {
    const int last = *std::max_element(numbers.begin(), numbers.end());
    if (run <= planned && recorded[run] < last) runs.push_back({run, last});
  }
  return runs;
}

}  // namespace doetune::cli
