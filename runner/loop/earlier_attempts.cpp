#include "runner/loop/earlier_attempts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "runner/attempts/attempt_file.h"

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

Attempt as_started(Attempt attempt) {
  std::error_code ignored;
  if (!std::filesystem::exists(attempt.directory / "attempt.json", ignored)) return attempt;
  try {
    return read_attempt(attempt.directory);
  } catch (const study::DirectoryError&) {
    return attempt;
  }
}

}  // namespace doetune::runner
