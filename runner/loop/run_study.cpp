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
#include "runner/servers/servers.h"
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
constexpr double kServerEnd_s = 0.2;   ///< for the end of a server that made its run fail
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
        servers_(directory, launcher, maker_),
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
    if (uses_servers()) servers_.end_left_behind();
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
    std::optional<Slot> slot;  ///< none if an earlier call had more jobs, or a server keeps it
    std::filesystem::path directory;
    int plot = 0;                              ///< of the server that it uses; 0: none
    std::optional<double> set_up_s = {};       ///< the time to set it up, for its first run
    std::optional<RunRecord> server_end = {};  ///< how the server ended before the run did
  };

  /// Whether no further run may be started.
  bool stopping() const { return interrupts_seen_ > 0 || stop_file_seen_ || gave_up_; }

  bool goes_on() const {
    return !under_way_.empty() || !servers_.empty() || (schedule_->waiting() > 0 && !stopping());
  }

  bool uses_servers() const { return !directory_.study.run.server.set_up.empty(); }

  void report(const std::string& text) {
    if (!text.empty()) sink_.note(text);
  }

  /// Finds errors in the study before any run is started.
  void check_commands(const Selection& selection) {
    Schedule schedule(directory_.plan, final_, selection);
    while (const auto index = schedule.next(now_s_())) {
      const PlannedRun& run = directory_.plan.runs[*index];
      pool_.check(maker_.make(run, 1, {}).gpus_wanted);
      if (uses_servers()) servers_.check(run);
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
        if (uses_servers()) abandon(going_on_.back(), attempt.name);
        return;
      }
    }
    append(record_of(index, number, path, {"", "doetune was stopped while it was running"}));
  }

  /// Stops a run of an earlier call, whose server is ended; it will be made again.
  void abandon(UnderWay& run, const std::string& attempt) {
    run.server_end.emplace();
    run.server_end->status = RunStatus::kLost;
    run.server_end->reason = "doetune was stopped while it was running";
    launcher_.cancel(attempt);
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
    if (uses_servers()) {
      use_servers();
      for (const Slot& slot : servers_.remove_ended(busy_plots())) pool_.give_back(slot);
    }
    while (!stopping() && schedule_->waiting() > 0) {
      look_for_stop_file();
      if (stop_file_seen_) return;
      const auto index = schedule_->peek(
          now_s_(), [&](std::size_t i) { return !uses_servers() || may_set_up(i); });
      if (!index) return;
      if (is_recorded_like_another(*index)) continue;
      auto slot = pool_.take(gpus_of(*index));
      if (!slot) return;
      if (uses_servers()) {
        set_up_server(run_at(*index), *slot);
      } else {
        schedule_->take(*index);
        start(*index, std::move(*slot));
      }
    }
  }

  /// Starts the next run of each server that is ready, and tears down servers without one.
  void use_servers() {
    const std::set<int> busy = busy_plots();
    for (const int plot : servers_.plots()) {
      if (busy.count(plot) > 0) continue;
      const auto in_plot = [&](std::size_t i) { return plot_of(run_at(i)) == plot; };
      auto index = schedule_->peek(now_s_(), in_plot);
      while (index && is_recorded_like_another(*index)) index = schedule_->peek(now_s_(), in_plot);
      const auto slot = servers_.slot_of(plot);
      if (stopping() || !schedule_->first(in_plot)) {
        report(servers_.tear_down(plot));
      } else if (index && slot) {
        schedule_->take(*index);
        start(*index, *slot);
      }
    }
  }

  /// Whether a run may have its server set up: after a failure only the run for which it failed.
  bool may_set_up(std::size_t index) const {
    const int plot = plot_of(run_at(index));
    const auto retried = set_up_again_.find(plot);
    return !servers_.has(plot) && (retried == set_up_again_.end() || retried->second == index);
  }

  void set_up_server(const PlannedRun& run, const Slot& slot) {
    lock_.check();
    servers_.set_up(run, slot);
    sink_.setting_up(run);
    count_servers_left();
  }

  std::set<int> busy_plots() const {
    std::set<int> plots;
    for (const auto& [name, run] : under_way_) {
      if (run.plot != 0) plots.insert(run.plot);
    }
    return plots;
  }

  void count_servers_left() {
    if (!uses_servers()) return;
    std::set<int> plots;
    for (const std::size_t index : schedule_->indices()) plots.insert(plot_of(run_at(index)));
    for (const int plot : servers_.plots()) plots.erase(plot);
    progress_.set_servers_left(plots.size());
  }

  int gpus_of(std::size_t index) const {
    const study::Study& study = directory_.study;
    return count_in(study.run.gpus_per_run, study, directory_.plan.runs[index]);
  }

  const PlannedRun& run_at(std::size_t index) const { return directory_.plan.runs[index]; }

  /// Records a run without executing it if another one has shown that it cannot run.
  bool is_recorded_like_another(std::size_t index) {
    const PlannedRun& run = run_at(index);
    if (const auto like = infeasible_like(directory_.study.factors, directory_.plan, final_, run)) {
      const char* what = final_.at(*like).in_set_up ? "its server could not run"
                                                    : "the same configuration was infeasible";
      record_unexecuted(index, RunStatus::kInfeasible, *like,
                        fmt::format("{} in run {}; not executed", what, *like));
      return true;
    }
    const auto without = without_server_.find(plot_of(run));
    if (without == without_server_.end()) return false;
    record_unexecuted(
        index, RunStatus::kFailed, without->second,
        fmt::format("its server could not be set up in run {}; not executed", without->second));
    return true;
  }

  void record_unexecuted(std::size_t index, RunStatus status, int like, std::string reason) {
    const PlannedRun& run = run_at(index);
    lock_.check();
    schedule_->take(index);
    RunRecord record;
    record.run = run.run;
    record.attempt = ++last_attempt_[run.run];
    record.status = status;
    record.settings = study::settings_texts(directory_.study, run);
    record.reason = std::move(reason);
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
    UnderWay entry{index, number, std::move(slot), attempt.directory};
    if (entry.slot->server) {
      entry.plot = plot_of(run);
      entry.slot.reset();
      entry.set_up_s = std::exchange(set_up_s_[entry.plot], std::nullopt);
    }
    under_way_.emplace(attempt.name, std::move(entry));
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
    const double look_s = servers_.setting_up() ? ReadinessProbe::kPause_s : kLookEvery_s;
    auto events = launcher_.wait(std::max(0.0, std::min({tick_s, results_s, retry_s, look_s})),
                                 interrupts_.descriptor());
    lock_.check();  // before attempts are assessed by files that may be gone
    handle_interrupts();
    if (events) handle(std::move(*events));
    if (results_stale_ && now_s_() >= results_due_s_) write_results();
  }

  /// Ends of servers come first: they may explain those of runs.
  void handle(std::vector<LauncherEvent> events) {
    const auto ended_badly = [&](const LauncherEvent& event) {
      const auto found = under_way_.find(event.attempt);
      return found != under_way_.end() && found->second.plot != 0 &&
             read_end(found->second.directory).value_or(AttemptEnd()).exit_code != 0;
    };
    if (std::any_of(events.begin(), events.end(), ended_badly)) {
      const auto more = launcher_.wait(kServerEnd_s, -1);
      if (more) events.insert(events.end(), more->begin(), more->end());
    }
    std::erase_if(events, [&](const LauncherEvent& event) { return servers_.take(event); });
    for (const ServerEvent& event : servers_.look()) handle(event);
    for (const LauncherEvent& event : events) end(event);
  }

  void handle(const ServerEvent& event) {
    if (event.type == ServerEvent::Type::kReady) {
      set_up_s_[event.plot] = event.set_up_s;
      set_up_again_.erase(event.plot);
      progress_.set_up(event.set_up_s);
      return;
    }
    report(servers_.tear_down(event.plot));
    if (event.type == ServerEvent::Type::kNotSetUp) return record_not_set_up(event);
    bool in_use = false;
    for (auto& [name, run] : under_way_) {
      if (run.plot != event.plot) continue;
      in_use = true;
      run.server_end = event.record;
      launcher_.cancel(name);
    }
    if (!in_use) sink_.note(fmt::format("{}; it is set up again", event.record.reason));
  }

  /// Records that the server of a whole plot could not be set up, as the end of its next run.
  void record_not_set_up(const ServerEvent& event) {
    const auto retried = set_up_again_.find(event.plot);
    const auto index = schedule_->first([&](std::size_t i) {
      return plot_of(run_at(i)) == event.plot &&
             (retried == set_up_again_.end() || retried->second == i);
    });
    if (!index || stopping()) return;
    const PlannedRun& run = run_at(*index);
    schedule_->take(*index);
    RunRecord record = event.record;
    record.run = run.run;
    record.attempt = ++last_attempt_[run.run];
    record.settings = study::settings_texts(directory_.study, run);
    record.duration_s = event.set_up_s;
    record.in_set_up = true;
    const bool again = conclude(*index, record, event.directory);
    if (again) {
      set_up_again_[event.plot] = *index;
    } else {
      set_up_again_.erase(event.plot);
    }
    if (!again && record.status != RunStatus::kInfeasible) without_server_[event.plot] = run.run;
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
    RunRecord record = record_of(ended.index, ended.number, ended.directory, event);
    record.set_up_s = ended.set_up_s;
    if (ended.server_end && record.status != RunStatus::kCompleted) {
      record.status = ended.server_end->status;
      record.reason = ended.server_end->reason;
    }
    if (ended.slot) pool_.give_back(*ended.slot);
    conclude(ended.index, record, ended.directory);
  }

  /// Records the end of a run and acts on it. Returns whether it is retried.
  bool conclude(std::size_t index, const RunRecord& record,
                const std::filesystem::path& directory) {
    const PlannedRun& run = run_at(index);
    const auto status_before = status_of(run.run);
    append(record);
    ++ended_;
    cancelled_ += record.status == RunStatus::kCancelled ? 1 : 0;
    const bool again = schedule_->ended(index, record.status, now_s_());
    progress_.ended(record, status_before);
    if (again) progress_.retried();
    progress_.set_waiting(schedule_->waiting());
    count_servers_left();
    sink_.ended(progress_, run, record, directory, again);
    report_drift(run);
    report(hooks_.after_run(record, directory));
    if (!again) handle_failure(record);
    handle_first_failures(record);
    return again;
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
  Servers servers_;
  std::map<int, std::optional<double>> set_up_s_;  ///< of a server without a run so far, by plot
  std::map<int, std::size_t>
      set_up_again_;                   ///< the run for which it failed and is retried, by plot
  std::map<int, int> without_server_;  ///< the run that showed it, by plot
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

void check_attempts(const StudyDirectory& directory, Launcher& launcher) {
  const Hooks hooks(directory);
  AttemptMaker maker(directory, launcher.ranks());
  Servers servers(directory, launcher, maker);
  for (const PlannedRun& run : directory.plan.runs) {
    maker.make(run, 1, {});
    if (!directory.study.run.server.set_up.empty()) servers.check(run);
  }
}

std::vector<PlannedAttempt> planned_attempts(const StudyDirectory& directory,
                                             const RunOptions& options, const Launcher& launcher) {
  const auto records = study::final_records(study::read_journal(directory).records);
  Schedule schedule(directory.plan, records, selection_of(directory, options));
  SlotPool pool = pool_of(directory, options, launcher);
  AttemptMaker maker(directory, launcher.ranks());
  std::deque<Slot> taken;  // assumes that runs end in the order of their start
  std::vector<PlannedAttempt> attempts;
  std::set<int> plots;
  while (const auto index = schedule.next(0)) {
    const PlannedRun& run = directory.plan.runs[*index];
    if (infeasible_like(directory.study.factors, directory.plan, records, run)) continue;
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
    const bool first = plots.insert(plot_of(run)).second;
    if (first && !directory.study.run.server.set_up.empty()) {
      attempts.back().server = maker.make_server(run, "", "", *slot);
    }
    taken.push_back(std::move(*slot));
  }
  return attempts;
}

}  // namespace doetune::runner
