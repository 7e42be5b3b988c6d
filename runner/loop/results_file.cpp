#include "runner/loop/results_file.h"

#include <algorithm>
#include <limits>

#include "study/directory/results.h"

namespace doetune::runner {
namespace {

constexpr double kResultsEvery_s = 1;
constexpr double kResultsFraction = 0.05;  ///< maximum fraction of time spent writing

}  // namespace

double ResultsFile::due_in_s() const {
  return outdated_ ? due_s_ - now_s_() : std::numeric_limits<double>::infinity();
}

void ResultsFile::write(const std::map<int, study::RunRecord>& final_records) {
  const double began_s = now_s_();
  study::write_file_atomically(directory_.results_csv(),
                               study::results_csv(directory_, final_records));
  const double ended_s = now_s_();
  due_s_ = ended_s + std::max(kResultsEvery_s, (ended_s - began_s) / kResultsFraction);
  outdated_ = false;
}

void ResultsFile::write_if_due(const std::map<int, study::RunRecord>& final_records) {
  if (due_in_s() <= 0) write(final_records);
}

}  // namespace doetune::runner
