#include "runner/loop/run_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/attempt_maker.h"
#include "runner/attempts/outcome.h"
#include "runner/attempts/request.h"
#include "runner/conditions/store.h"
#include "runner/loop/drift.h"
#include "runner/loop/earlier_attempts.h"
#include "runner/loop/failure_policy.h"
#include "runner/loop/hooks.h"
#include "runner/loop/results_file.h"
#include "runner/loop/whole_plots.h"
#include "study/directory/journal.h"

namespace doetune::runner {
namespace {

using study::PlannedRun;
using study::RunRecord;
using study::RunStatus;
using study::StudyDirectory;

constexpr double kLookEvery_s = 1;  ///< interval between checks of the study directory

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
        maker_(directory, launcher.ranks(), launcher.has_programs_here()),
        hooks_(directory),
        conditions_(directory.path),
        pool_(pool_of(directory, options, launcher)),
        plots_(directory, launcher, maker_),
        failures_(directory.study.run.on_failure, directory.path / "study.yaml"),
        results_(directory, now_s),
        early_endings_(options.ends_early),
        progress_(pool_.jobs(), directory.study.run.expected_s, now_s()) {
    for (const std::string& warning : journal_.content().warnings) sink_.note(warning);
    final_ = study::final_records(journal_.content().records);
    check_commands(selection_of(directory, options));
    if (plots_.used()) plots_.servers().take_up(pool_);
    load_history();
    schedule_.emplace(directory.plan, final_, selection_of(directory, options));
    take_up_under_way();
    progress_.set_waiting(schedule_->waiting());
    progress_.set_counts(count_runs(directory.plan, final_));
  }

  RunSummary run() {
    remove_left_behind(directory_.results_csv());
    results_.write(final_);
    if (schedule_->waiting() > 0) {
      note_conditions(directory_.path, directory_.working_directory,
                      directory_.study.run.environment);
    }
    for (start_runs(); goes_on(); start_runs()) wait();
    results_.write(final_);
    report(hooks_.after_all(progress_.counts()));
    const bool left = schedule_->waiting() + cancelled_ > 0;
    return {progress_.counts(), ended_, (interrupts_seen_ > 0 || stop_file_seen_) && left,
            failures_.gave_up()};
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
  bool stopping() const { return interrupts_seen_ > 0 || stop_file_seen_ || failures_.gave_up(); }

  bool goes_on() const {
    return !under_way_.empty() || !plots_.servers().empty() ||
           (schedule_->waiting() > 0 && !stopping());
  }

  void report(const std::string& text) {
    if (!text.empty()) sink_.note(text);
  }

  /// Finds errors in the study before any run is started.
  void check_commands(const Selection& selection) {
    Schedule schedule(directory_.plan, final_, selection);
    while (const auto index = schedule.next(now_s_())) {
      const PlannedRun& run = directory_.plan.runs[*index];
      pool_.check(maker_.make(run, 1, {}).gpus_wanted);
      if (plots_.used()) check_server(directory_, maker_, run, launcher_.has_programs_here());
    }
  }

  /// Loads the records of earlier calls, and attempt directories without a record.
  void load_history() {
    EarlierAttempts earlier = earlier_attempts(directory_, journal_.content());
    last_attempt_ = std::move(earlier.last);
    for (const EarlierAttempt& found : earlier.unrecorded) {
      const PlannedRun& run = run_at(found.index);
      if (!is_decided(run.run) && is_own(run, found.number)) adopt(found.index, found.number);
    }
  }

  /// Whether the run has its final result, so that its unrecorded attempts are irrelevant.
  bool is_decided(int run) const {
    const auto record = final_.find(run);
    return record != final_.end() && study::is_decided(record->second.status);
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
        going_on_.push_back({index, number, std::nullopt, path});
        take_place(going_on_.back(), attempt);
        return;
      }
    }
    append(record_of(index, number, path, {"", "doetune was stopped while it was running"}));
  }

  /// Gives a run of an earlier call its slot or its server. It is stopped, and will be made again,
  /// if its server is not used any more.
  void take_place(UnderWay& run, const Attempt& attempt) {
    const auto plot = plots_.servers().plot_of_server(attempt.server);
    if (!plots_.used()) {
      run.slot = pool_.take_again(attempt.host, attempt.gpus);
    } else if (plot) {
      run.plot = *plot;
      plots_.began(*plot);
    } else {
      run.server_end.emplace();
      run.server_end->status = RunStatus::kLost;
      run.server_end->reason = "doetune was stopped while it was running";
      launcher_.cancel(attempt.name);
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
    if (plots_.used()) use_servers();
    while (!stopping() && schedule_->waiting() > 0) {
      look_for_stop_file();
      if (stop_file_seen_) return;
      const auto index = schedule_->peek(
          now_s_(), [&](std::size_t i) { return !plots_.used() || plots_.may_set_up(i); });
      if (!index) return;
      if (is_recorded_like_another(*index)) continue;
      auto slot = pool_.take(gpus_of(*index));
      if (!slot) return;
      if (plots_.used()) {
        set_up_server(run_at(*index), *slot);
      } else {
        schedule_->take(*index);
        start(*index, std::move(*slot));
      }
    }
  }

  /// Starts the next run of each server that is ready, and tears down servers without one.
  void use_servers() {
    Servers& servers = plots_.servers();
    for (const int plot : servers.plots()) {
      if (plots_.in_use().count(plot) > 0) continue;
      const auto in_plot = [&](std::size_t i) { return plot_of(run_at(i)) == plot; };
      auto index = schedule_->peek(now_s_(), in_plot);
      while (index && is_recorded_like_another(*index)) index = schedule_->peek(now_s_(), in_plot);
      const auto slot = servers.slot_of(plot);
      if (stopping() || !schedule_->first(in_plot)) {
        report(servers.tear_down(plot));
      } else if (index && slot) {
        schedule_->take(*index);
        start(*index, *slot);
      }
    }
    for (const Slot& slot : servers.remove_ended(plots_.in_use())) pool_.give_back(slot);
  }

  void set_up_server(const PlannedRun& run, const Slot& slot) {
    lock_.check();
    plots_.servers().set_up(run, slot);
    sink_.setting_up(run);
    count_servers_left();
  }

  void count_servers_left() {
    if (plots_.used()) progress_.set_servers_left(plots_.left(*schedule_));
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
      const RunRecord& known = final_.at(*like);
      const char* what =
          known.in_set_up ? "its server could not run" : "the same configuration was infeasible";
      const std::string why = known.reason.empty() ? "" : " (" + known.reason + ")";
      record_unexecuted(index, RunStatus::kInfeasible, *like,
                        fmt::format("{} in run {}{}; not executed", what, *like, why));
      return true;
    }
    const auto without = plots_.without_server(run);
    if (!without) return false;
    record_unexecuted(
        index, RunStatus::kFailed, *without,
        fmt::format("its server could not be set up in run {}; not executed", *without));
    return true;
  }

  void record_unexecuted(std::size_t index, RunStatus status, int like, std::string reason) {
    const PlannedRun& run = run_at(index);
    lock_.check();
    schedule_->take(index);
    plots_.not_executed(index);
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
      entry.set_up_s = plots_.began(entry.plot);
    }
    under_way_.emplace(attempt.name, std::move(entry));
    progress_.started(run.run, now_s_());
    progress_.set_waiting(schedule_->waiting());
    sink_.started(progress_, run, number);
  }

  void wait() {
    plots_.servers().keep_wanted();
    const double tick_s = sink_.tick(progress_, now_s_());
    const double due_s = schedule_->due_s() - now_s_();  // of a run that waits for its backoff
    const double retry_s = due_s > 0 ? due_s : std::numeric_limits<double>::infinity();
    const double look_s = plots_.servers().setting_up() ? ReadinessProbe::kPause_s : kLookEvery_s;
    const double due_in_s =
        std::min({tick_s, results_.due_in_s(), retry_s, look_s, early_endings_.pause_s()});
    auto events = launcher_.wait(std::max(0.0, due_in_s), interrupts_.descriptor());
    lock_.check();  // before attempts are assessed by files that may be gone
    handle_interrupts();
    if (events) handle(std::move(*events));
    end_early();
    results_.write_if_due(final_);
  }

  /// Stops the runs whose progress says so. How they ended is in their directories.
  void end_early() {
    if (!early_endings_.is_due(now_s_())) return;
    for (const auto& [name, run] : under_way_) {
      if (early_endings_.ends(run_at(run.index), run.directory)) launcher_.cancel(name);
    }
  }

  /// Ends of servers come first: they may explain those of runs.
  void handle(std::vector<LauncherEvent> events) {
    const auto ended_badly = [&](const LauncherEvent& event) {
      const auto found = under_way_.find(event.attempt);
      return found != under_way_.end() && found->second.plot != 0 &&
             read_end(found->second.directory).value_or(AttemptEnd()).exit_code != 0;
    };
    if (std::any_of(events.begin(), events.end(), ended_badly)) plots_.await_end(events);
    std::erase_if(events, [&](const LauncherEvent& event) { return plots_.servers().take(event); });
    for (const ServerEvent& event : plots_.servers().look()) handle(event);
    for (const LauncherEvent& event : events) end(event);
  }

  void handle(const ServerEvent& event) {
    if (event.type == ServerEvent::Type::kReady) {
      plots_.ready(event);
      progress_.set_up(event.set_up_s);
      return;
    }
    report(plots_.servers().tear_down(event.plot));
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
    const auto index = plots_.waiting_for(event.plot, *schedule_);
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
    plots_.not_set_up(*index, record.status, again);
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
    if (ended.plot != 0) plots_.ended(ended.plot);
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
    const std::string why_stopping = failures_.after(record, again, any_worked());
    progress_.ended(record, status_before);
    if (again) progress_.retried();
    progress_.set_waiting(schedule_->waiting());
    count_servers_left();
    sink_.ended(progress_, run, record, directory, again && !failures_.gave_up());
    for (const auto& text : drift_.after(run, directory_.study, directory_.plan, final_)) {
      report(text);
    }
    report(hooks_.after_run(record, directory));
    report(why_stopping);
    return again;
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
    results_.outdated();
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
  WholePlots plots_;
  FailurePolicy failures_;
  ResultsFile results_;
  EarlyEndings early_endings_;
  Progress progress_;
  std::map<int, RunRecord> final_;
  std::map<int, int> last_attempt_;  ///< highest attempt number used, by run
  std::optional<Schedule> schedule_;
  std::vector<UnderWay> going_on_;             ///< attempts of an earlier call that still run
  std::map<std::string, UnderWay> under_way_;  ///< by attempt name
  int interrupts_seen_ = 0;
  DriftReport drift_;
  bool stop_file_seen_ = false;
  int ended_ = 0;
  std::size_t cancelled_ = 0;
};

}  // namespace

RunSummary run_study(const StudyDirectory& directory, const RunOptions& options, Launcher& launcher,
                     ProgressSink& progress, Interrupts& interrupts,
                     const std::function<double()>& now_s) {
  check_patterns(directory.study);
  return StudyRun(directory, options, launcher, progress, interrupts, now_s).run();
}

}  // namespace doetune::runner
