// Keeps results.csv current at a bounded cost.
#pragma once

#include <functional>
#include <map>

#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::runner {

/// results.csv is derived from the journal. It is written at most once a second, and less often if
/// that would take more than a twentieth of the time.
class ResultsFile {
 public:
  ResultsFile(const study::StudyDirectory& directory, std::function<double()> now_s)
      : directory_(directory), now_s_(std::move(now_s)) {}

  /// A record was added.
  void outdated() { outdated_ = true; }

  /// Seconds until write_if_due() has something to do; infinite if the file is current.
  double due_in_s() const;

  void write(const std::map<int, study::RunRecord>& final_records);
  void write_if_due(const std::map<int, study::RunRecord>& final_records);

 private:
  const study::StudyDirectory& directory_;
  std::function<double()> now_s_;
  bool outdated_ = false;
  double due_s_ = 0;
};

}  // namespace doetune::runner
