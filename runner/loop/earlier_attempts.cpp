#include "runner/loop/earlier_attempts.h"

#include <algorithm>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

EarlierAttempts earlier_attempts(const study::StudyDirectory& directory,
                                 const study::JournalContent& journal) {
  EarlierAttempts earlier;
  for (const auto* records : {&journal.records, &journal.left_out}) {
    for (const study::RunRecord& record : *records) {
      earlier.last[record.run] = std::max(earlier.last[record.run], record.attempt);
    }
  }
  auto directories = attempt_directories(directory.path / "runs");
  for (std::size_t i = 0; i < directory.plan.runs.size(); ++i) {
    const int run = directory.plan.runs[i].run;
    auto& numbers = directories[run];
    std::sort(numbers.begin(), numbers.end());
    for (const int number : numbers) {
      if (number <= earlier.last[run]) continue;
      earlier.last[run] = number;
      earlier.unrecorded.push_back({i, number});
    }
  }
  return earlier;
}

}  // namespace doetune::runner
