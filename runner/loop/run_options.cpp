#include "runner/loop/run_options.h"

namespace doetune::runner {

Selection selection_of(const study::StudyDirectory& directory, const RunOptions& options) {
  const study::RunSettings& run = directory.study.run;
  return {options.only, options.again, run.retries, run.on_failure == study::OnFailure::kStop};
}

SlotPool pool_of(const study::StudyDirectory& directory, const RunOptions& options,
                 const Launcher& launcher) {
  return SlotPool(launcher.capacities(directory.study.run, {options.jobs, options.gpus}));
}

}  // namespace doetune::runner
