#include "runner/loop/planned_attempts.h"

#include <deque>
#include <set>
#include <utility>

#include "runner/attempts/attempt_maker.h"
#include "runner/attempts/request.h"
#include "runner/loop/hooks.h"
#include "runner/servers/servers.h"
#include "study/directory/journal.h"

namespace doetune::runner {

using study::PlannedRun;
using study::StudyDirectory;

namespace {

void check_runs(const StudyDirectory& directory, AttemptMaker& maker, bool programs_here) {
  for (const PlannedRun& run : directory.plan.runs) {
    maker.make(run, 1, {});
    if (!directory.study.run.server.set_up.empty()) {
      check_server(directory, maker, run, programs_here);
    }
  }
}

}  // namespace

void check_attempts(const StudyDirectory& directory, Launcher& launcher) {
  const Hooks hooks(directory);
  AttemptMaker maker(directory, launcher.ranks(), launcher.has_programs_here());
  check_runs(directory, maker, launcher.has_programs_here());
}

void check_attempts_elsewhere(const StudyDirectory& directory) {
  AttemptMaker maker(directory, "mpirun", false);
  check_runs(directory, maker, false);
}

std::vector<PlannedAttempt> planned_attempts(const StudyDirectory& directory,
                                             const RunOptions& options, const Launcher& launcher) {
  const auto records = study::final_records(study::read_journal(directory).records);
  Schedule schedule(directory.plan, records, selection_of(directory, options));
  SlotPool pool = pool_of(directory, options, launcher);
  AttemptMaker maker(directory, launcher.ranks(), launcher.has_programs_here());
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
