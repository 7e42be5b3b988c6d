// One run of a study with `search: largest`: calls of its program at several loads.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/slots.h"
#include "runner/search/largest_load.h"
#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

/// How a search ended: what its process writes and returns.
struct SearchEnd {
  int exit_code = 0;      ///< 77: the settings cannot run, or no load meets the limits
  std::string reason;     ///< unless 0
  nlohmann::json result;  ///< result.json, if 0
  std::string output;     ///< what the call at the answer printed, where patterns find responses
  std::string errors;
};

/// A run's search. Each call is what an attempt of the run would be at that load: the same command
/// and environment, and request.json with the load among the factors and the time left as its
/// limit, in a directory of its own (calls/1, calls/2 ... of the attempt). A call that fails is
/// made once more; if it fails again, or its load cannot run, the load does not meet the limits.
///
/// The result has the responses of the call at the answer, the load itself with its relative
/// half-width (LargestLoad::interval), and the notes `calls` (each load with its most exceeded
/// limit) and, where the answer is only a bound, `search`.
class SearchRun {
 public:
  /// `attempt` is the directory of an attempt, with request.json, in a study directory. Throws
  /// study::StudyError, study::DirectoryError or RunError.
  explicit SearchRun(const std::filesystem::path& attempt);

  /// Prints a line for each call on standard error.
  SearchEnd run();

 private:
  /// What became of a call at a load.
  struct Call {
    double load = 0;
    study::RunRecord record;
    std::string output, errors;
    nlohmann::json result;  ///< the program's; null if there is none
    double begin_s = 0, end_s = 0;
  };

  Call call(double load);
  void start(double load, const std::filesystem::path& directory, Call& made) const;
  LoadProbe probe(const Call& made);
  SearchEnd answer(const LargestLoad& search) const;
  SearchEnd no_answer(const LargestLoad& search) const;
  std::string bound(const LargestLoad& search) const;
  std::string calls_text(const LargestLoad& search) const;

  std::filesystem::path attempt_;
  nlohmann::json request_;
  study::Study study_;  ///< as that of one call: without the searched factor's response
  study::LoadSearch search_;
  study::PlannedRun run_;
  std::optional<ServerAddress> server_;
  double deadline_s_ = 0;
  double longest_s_ = 0;  ///< of the calls so far
  int calls_ = 0;
  std::optional<Call> best_;        ///< at the largest load that kept the limits
  std::optional<Call> worst_;       ///< at the smallest that did not
  std::vector<std::string> words_;  ///< of each call: its most exceeded limit, or why it failed
};

}  // namespace doetune::runner
