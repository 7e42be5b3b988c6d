#include "runner/loop/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/attempt_maker.h"
#include "runner/attempts/outcome.h"
#include "runner/attempts/request.h"
#include "runner/attempts/slots.h"
#include "runner/conditions/store.h"
#include "runner/loop/drift.h"
#include "runner/loop/hooks.h"
#include "study/directory/journal.h"
#include "study/directory/results.h"

namespace doetune::runner {
namespace {

using study::PlannedRun;
using study::RunRecord;
using study::RunStatus;
using study::StudyDirectory;

constexpr std::size_t kFirstRuns = 3;  ///< so many that fail alike stop a plan (on_failure)
constexpr double kLookEvery_s = 1;     ///< interval between checks of the study directory
constexpr double kResultsEvery_s = 1;
constexpr double kResultsFraction = 0.05;  ///< maximum fraction of time spent writing results.csv

Selection selection_of(const StudyDirectory& directory, const RunOptions& options) {
  const study::RunSettings& run = directory.study.run;
  return {options.only, options.again, run.retries, run.on_failure == study::OnFailure::kStop};
}

SlotPool pool_of(const StudyDirectory& directory, const RunOptions& options,
                 const Launcher& launcher) {
  return SlotPool(launcher.capacities(directory.study.run, {options.jobs, options.gpus}));
}

/// One call of run_study.
class StudyRun {
 public:
  StudyRun(const StudyDirectory& directory, const RunOptions& options, Launcher& launcher,
           ProgressSink& sink, Interrupts& interrupts, const std::function<double()>& now_s)
      : directory_(directory),
        launcher_(launcher),
        sink_(sink),
        interrupts_(interrupts),
        now_s_(now_s),
        lock_(directory.path),
        journal_(directory),
        maker_(directory, launcher.ranks()),
        hooks_(directory),
        conditions_(directory.path),
        pool_(pool_of(directory, options, launcher)),
        progress_(pool_.jobs(), directory.study.run.expected_s, now_s()) {
    for (const std::string& warning : journal_.content().warnings) sink_.note(warning);
    final_ = study::final_records(journal_.content().records);
    check_commands(selection_of(directory, options));
    load_history();
    schedule_.emplace(directory.plan, final_, selection_of(directory, options));
    take_up_under_way();
    progress_.set_waiting(schedule_->waiting());
    progress_.set_counts(count_runs(directory.plan, final_));
  }

  RunSummary run() {
    remove_left_behind(directory_.results_csv());
    write_results();
    if (schedule_->waiting() > 0) {
      note_conditions(directory_.path, directory_.working_directory,
                      directory_.study.run.environment);
    }
    for (start_runs(); goes_on(); start_runs()) wait();
    write_results();
    report(hooks_.after_all(progress_.counts()));
    const bool left = schedule_->waiting() + cancelled_ > 0;
    return {progress_.counts(), ended_, (interrupts_seen_ > 0 || stop_file_seen_) && left,
            gave_up_};
  }

 private:
  struct UnderWay {
    std::size_t index;  ///< in the plan
    int number;
    std::optional<Slot> slot;  ///< none if an earlier call had more jobs
    std::filesystem::path directory;
  };

  /// Whether no further run may be started.
  bool stopping() const { return interrupts_seen_ > 0 || stop_file_seen_ || gave_up_; }

  bool goes_on() const { return !under_way_.empty() || (schedule_->waiting() > 0 && !stopping()); }

  void report(const std::string& text) {
    if (!text.empty()) sink_.note(text);
  }

  /// Finds errors in the study before any run is started.
  void check_commands(const Selection& selection) {
    Schedule schedule(directory_.plan, final_, selection);
    while (const auto index = schedule.next(now_s_())) {
      pool_.check(maker_.make(directory_.plan.runs[*index], 1, {}).gpus_wanted);
    }
  }

  /// Loads the records of earlier calls, and attempt directories without a record.
  void load_history() {
    for (const auto* records : {&journal_.content().records, &journal_.content().left_out}) {
      for (const RunRecord& record : *records) {
        last_attempt_[record.run] = std::max(last_attempt_[record.run], record.attempt);
      }
    }
    auto directories = attempt_directories(directory_.path / "runs");
    for (std::size_t i = 0; i < directory_.plan.runs.size(); ++i) {
      const int run = directory_.plan.runs[i].run;
      auto& numbers = directories[run];
      std::sort(numbers.begin(), numbers.end());
      for (const int number : numbers) {
        if (number <= last_attempt_[run]) continue;
        last_attempt_[run] = number;  // whoever made it: the directory exists
        if (!is_decided(run) && is_own(directory_.plan.runs[i], number)) adopt(i, number);
      }
    }
  }

  /// Whether the run has its final result, so that its unrecorded attempts are irrelevant. Attempts
  /// before the last recorded one are never considered, even if their journal lines were damaged.
  bool is_decided(int run) const {
    const auto record = final_.find(run);
    return record != final_.end() && (record->second.status == RunStatus::kCompleted ||
                                      record->second.status == RunStatus::kInfeasible);
  }

  /// Whether the directory belongs to this attempt, by its request; others are reported and left
  /// alone.
  bool is_own(const PlannedRun& run, int number) {
    const auto path = maker_.path(run.run, number);
    if (is_request_of(path, directory_, run, number)) return true;
    sink_.note(fmt::format("{}: left out: its request.json is not of attempt {} at run {}",
                           path.string(), number, run.run));
    return false;
  }

  /// Handles an unrecorded attempt of an earlier call: it ended, still runs, or was lost.
  void adopt(std::size_t index, int number) {
    const PlannedRun& run = directory_.plan.runs[index];
    const auto path = maker_.path(run.run, number);
    if (!read_end(path)) {
      const Attempt attempt = as_started(maker_.make(run, number, {}));
      if (launcher_.resume(attempt)) {
        going_on_.push_back({index, number, pool_.take_again(attempt.host, attempt.gpus), path});
        return;
      }
    }
    append(record_of(index, number, path, {"", "doetune was stopped while it was running"}));
  }

  /// The attempt as described by its attempt.json, if there is one: with its host and GPUs.
  static Attempt as_started(Attempt attempt) {
    std::error_code ignored;
    if (!std::filesystem::exists(attempt.directory / "attempt.json", ignored)) return attempt;
    try {
      return read_attempt(attempt.directory);
    } catch (const study::DirectoryError&) {
      return attempt;
    }
  }

  void take_up_under_way() {
    for (UnderWay& found : going_on_) {
      schedule_->take(found.index);
      const PlannedRun& run = directory_.plan.runs[found.index];
      const std::string name = maker_.make(run, found.number, found.slot.value_or(Slot())).name;
      progress_.started(run.run, now_s_());
      under_way_.emplace(name, std::move(found));
    }
  }

  void look_for_stop_file() {
    const auto file = directory_.stop_file();
    std::error_code ignored;
    if (stop_file_seen_ || !std::filesystem::exists(file, ignored)) return;
    stop_file_seen_ = true;
    sink_.note(fmt::format("stopping: {} exists; remove it to continue", file.string()));
  }

  void start_runs() {
    for (const std::string& host : launcher_.closed_hosts()) pool_.close(host);
    while (!stopping() && schedule_->waiting() > 0) {
      look_for_stop_file();
      if (stop_file_seen_) return;
      const auto index = schedule_->peek(now_s_());
      if (!index) return;
      if (const auto like = infeasible_like(directory_.plan, final_, run_at(*index))) {
        record_unexecuted(*index, *like);
        continue;
      }
      auto slot = pool_.take(gpus_of(*index));
      if (!slot) return;
      schedule_->take(*index);
      start(*index, std::move(*slot));
    }
  }

  int gpus_of(std::size_t index) const {
    const study::Study& study = directory_.study;
    return count_in(study.run.gpus_per_run, study, directory_.plan.runs[index]);
  }

  const PlannedRun& run_at(std::size_t index) const { return directory_.plan.runs[index]; }

  /// Records a run as infeasible because another one was, at the same settings.
  void record_unexecuted(std::size_t index, int like) {
    const PlannedRun& run = run_at(index);
    lock_.check();
    schedule_->take(index);
    RunRecord record;
    record.run = run.run;
    record.attempt = ++last_attempt_[run.run];
    record.status = RunStatus::kInfeasible;
    record.settings = study::settings_texts(directory_.study, run);
    record.reason =
        fmt::format("the same configuration was infeasible in run {}; not executed", like);
    record.same_as = like;
    const auto before = status_of(run.run);
    append(record);
    progress_.ended(record, before);
    progress_.set_waiting(schedule_->waiting());
    sink_.ended(progress_, run, record, maker_.path(run.run, record.attempt), false);
  }

  /// The status of the final record so far; empty if there is none.
  std::optional<RunStatus> status_of(int run) const {
    const auto record = final_.find(run);
    return record == final_.end() ? std::nullopt : std::optional(record->second.status);
  }

  void start(std::size_t index, Slot slot) {
    const PlannedRun& run = run_at(index);
    lock_.check();  // a deleted study must not be recreated
    const int number = ++last_attempt_[run.run];
    const Attempt attempt = maker_.make(run, number, slot);
    std::error_code error;
    std::filesystem::create_directories(attempt.directory, error);
    if (error) {
      throw study::DirectoryError(
          fmt::format("cannot create {}: {}", attempt.directory.string(), error.message()));
    }
    study::write_file_atomically(attempt.request(), request_text(directory_, run, number, slot));
    launcher_.submit(attempt);
    under_way_.emplace(attempt.name, UnderWay{index, number, std::move(slot), attempt.directory});
    progress_.started(run.run, now_s_());
    progress_.set_waiting(schedule_->waiting());
    sink_.started(progress_, run, number);
  }

  void wait() {
    const double tick_s = sink_.tick(progress_, now_s_());
    const double results_s =
        results_stale_ ? results_due_s_ - now_s_() : std::numeric_limits<double>::infinity();
    const double due_s = schedule_->due_s() - now_s_();  // of a run that waits for its backoff
    const double retry_s = due_s > 0 ? due_s : std::numeric_limits<double>::infinity();
    const auto events =
        launcher_.wait(std::max(0.0, std::min({tick_s, results_s, retry_s, kLookEvery_s})),
                       interrupts_.descriptor());
    lock_.check();  // before attempts are assessed by files that may be gone
    handle_interrupts();
    for (const LauncherEvent& event : events.value_or(std::vector<LauncherEvent>())) end(event);
    if (results_stale_ && now_s_() >= results_due_s_) write_results();
  }

  void handle_interrupts() {
    const int count = interrupts_.count();
    if (count == interrupts_seen_) return;
    if (interrupts_seen_ == 0 && count == 1) {
      sink_.note(fmt::format("stopping: {} in progress will finish; Ctrl-C again stops {} now",
                             under_way_.size() == 1 ? "the run" : "the runs",
                             under_way_.size() == 1 ? "it" : "them"));
    } else if (interrupts_seen_ < 2) {
      for (const auto& [name, attempt] : under_way_) launcher_.cancel(name);
    }
    interrupts_seen_ = count;
  }

  void end(const LauncherEvent& event) {
    const auto found = under_way_.find(event.attempt);
    if (found == under_way_.end()) return;
    UnderWay ended = std::move(found->second);
    under_way_.erase(found);
    const PlannedRun& run = directory_.plan.runs[ended.index];
    const RunRecord record = record_of(ended.index, ended.number, ended.directory, event);
    const auto status_before = status_of(run.run);
    append(record);
    ++ended_;
    cancelled_ += record.status == RunStatus::kCancelled ? 1 : 0;
    const bool again = schedule_->ended(ended.index, record.status, now_s_());
    if (ended.slot) pool_.give_back(*ended.slot);
    progress_.ended(record, status_before);
    if (again) progress_.retried();
    progress_.set_waiting(schedule_->waiting());
    sink_.ended(progress_, run, record, ended.directory, again);
    report_drift(run);
    report(hooks_.after_run(record, ended.directory));
    if (!again) handle_failure(record);
    handle_first_failures(record);
  }

  /// Reports each drifting response once, at the first centre run that makes it significant.
  void report_drift(const PlannedRun& run) {
    if (run.type != doe::PointType::kCenter) return;
    for (const Drift& drift : drifts(directory_.study, directory_.plan, final_)) {
      if (drift.is_clear && drifting_.insert(drift.response).second) report(drift_text(drift));
    }
  }

  void handle_failure(const RunRecord& record) {
    const bool failed = record.status == RunStatus::kFailed ||
                        record.status == RunStatus::kTimedOut || record.status == RunStatus::kLost;
    if (!failed || gave_up_ || directory_.study.run.on_failure != study::OnFailure::kStop) return;
    gave_up_ = true;
    sink_.note(fmt::format("stopping: run {} {}, and the study sets on_failure: stop", record.run,
                           study::run_status_name(record.status)));
  }

  /// With on_failure: first-three, stops if the first runs failed alike: the others would, too.
  void handle_first_failures(const RunRecord& record) {
    if (directory_.study.run.on_failure != study::OnFailure::kFirstThree || gave_up_) return;
    if (any_worked() || record.status == RunStatus::kCancelled) return;
    if (record.status == RunStatus::kLost) return;  // says nothing about the run
    failed_alike_ = failed_alike_ && record.status == RunStatus::kFailed &&
                    (first_failed_.empty() ||
                     (record.exit_code == first_exit_code_ && record.reason == first_reason_));
    first_exit_code_ = record.exit_code;
    first_reason_ = record.reason;
    first_failed_.insert(record.run);
    if (!failed_alike_ || first_failed_.size() < kFirstRuns) return;
    gave_up_ = true;
    sink_.note(fmt::format(
        "stopping: the first {} runs failed alike, and the others would, too ({}); to run them all "
        "the same, set run: {{on_failure: continue}} in {}",
        kFirstRuns, record.reason, (directory_.path / "study.yaml").string()));
  }

  /// Whether a run of the plan has completed or was infeasible, so that the program works.
  bool any_worked() const {
    return std::any_of(final_.begin(), final_.end(),
                       [&](const auto& entry) { return is_decided(entry.first); });
  }

  /// The record of an attempt that ended, from its directory and the launcher's event.
  RunRecord record_of(std::size_t index, int number, const std::filesystem::path& path,
                      const LauncherEvent& event) {
    AttemptEnd lost;
    lost.detail = event.remark;
    lost.host = node_name();
    const AttemptEnd end = event.end ? *event.end : read_end(path).value_or(lost);
    RunRecord record =
        assess(directory_.study, directory_.plan.runs[index], number, end, read_output(path));
    record.conditions = conditions_.id_of(record.host);
    return record;
  }

  void append(const RunRecord& record) {
    journal_.append(record);
    final_[record.run] = record;
    results_stale_ = true;
  }

  void write_results() {
    const double began_s = now_s_();
    study::write_file_atomically(directory_.results_csv(), study::results_csv(directory_, final_));
    const double ended_s = now_s_();
    results_due_s_ = ended_s + std::max(kResultsEvery_s, (ended_s - began_s) / kResultsFraction);
    results_stale_ = false;
  }

  const StudyDirectory& directory_;
  Launcher& launcher_;
  ProgressSink& sink_;
  Interrupts& interrupts_;
  std::function<double()> now_s_;
  study::DirectoryLock lock_;
  study::Journal journal_;
  AttemptMaker maker_;
  Hooks hooks_;
  ConditionsStore conditions_;
  SlotPool pool_;
  Progress progress_;
  std::map<int, RunRecord> final_;
  std::map<int, int> last_attempt_;  ///< highest attempt number used, by run
  std::optional<Schedule> schedule_;
  std::vector<UnderWay> going_on_;             ///< attempts of an earlier call that still run
  std::map<std::string, UnderWay> under_way_;  ///< by attempt name
  int interrupts_seen_ = 0;
  std::set<std::string> drifting_;  ///< responses reported to drift
  bool stop_file_seen_ = false;
  bool gave_up_ = false;
  bool failed_alike_ = true;  ///< the runs of this call so far
  std::set<int> first_failed_;
  std::optional<int> first_exit_code_;
  std::string first_reason_;
  int ended_ = 0;
  std::size_t cancelled_ = 0;
  bool results_stale_ = false;
  double results_due_s_ = 0;
};

}  // namespace

RunSummary run_study(const StudyDirectory& directory, const RunOptions& options, Launcher& launcher,
                     ProgressSink& progress, Interrupts& interrupts,
                     const std::function<double()>& now_s) {
  check_patterns(directory.study);
  return StudyRun(directory, options, launcher, progress, interrupts, now_s).run();
}

void check_attempts(const StudyDirectory& directory, const Launcher& launcher) {
  const Hooks hooks(directory);
  AttemptMaker maker(directory, launcher.ranks());
  for (const PlannedRun& run : directory.plan.runs) maker.make(run, 1, {});
}

std::vector<PlannedAttempt> planned_attempts(const StudyDirectory& directory,
                                             const RunOptions& options, const Launcher& launcher) {
  const auto records = study::final_records(study::read_journal(directory).records);
  Schedule schedule(directory.plan, records, selection_of(directory, options));
  SlotPool pool = pool_of(directory, options, launcher);
  AttemptMaker maker(directory, launcher.ranks());
  std::deque<Slot> taken;  // assumes that runs end in the order of their start
  std::vector<PlannedAttempt> attempts;
  while (const auto index = schedule.next(0)) {
    const PlannedRun& run = directory.plan.runs[*index];
    if (infeasible_like(directory.plan, records, run)) continue;
    const int gpus = count_in(directory.study.run.gpus_per_run, directory.study, run);
    pool.check(gpus);
    auto slot = pool.take(gpus);
    for (; !slot; slot = pool.take(gpus)) {
      pool.give_back(taken.front());
      taken.pop_front();
    }
    const auto record = records.find(run.run);
    const int number = record == records.end() ? 1 : record->second.attempt + 1;
    attempts.push_back({run.run, *slot, maker.make(run, number, *slot)});
    taken.push_back(std::move(*slot));
  }
  return attempts;
}

}  // namespace doetune::runner
