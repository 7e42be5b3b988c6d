#include "cli/run_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/run_numbers.h"
#include "runner/run_error.h"

namespace po = boost::program_options;

namespace doetune::cli {

void add_run_options(Options& options) {
  options.add()("jobs,j", po::value<int>(), "runs at once, instead of the study's")(
      "launcher", po::value<std::string>(), "where runs are executed, instead of the study's")(
      "gpus", po::value<std::string>(), "the GPUs to use, e.g. 0,1");
}

runner::RunOptions run_options(const Options& options) {
  runner::RunOptions run;
  if (options.has("jobs")) run.jobs = options.integer("jobs", 1);
  if (run.jobs.value_or(1) < 1) throw UsageError("--jobs must be at least 1");
  run.gpus = split_list(options.text("gpus"));
  return run;
}

std::unique_ptr<runner::Launcher> make_launcher(const Options& options,
                                                const study::StudyDirectory& directory) {
  const study::Study& study = directory.study;
  const runner::LauncherRequest request{
      study.name, std::filesystem::absolute(directory.path), study.run,
      [](const std::string& text) { fmt::print(stderr, "{}\n", text); }};
  if (!options.has("launcher")) return runner::make_launcher(study.run.launcher, request);
  try {
    return runner::make_launcher(options.text("launcher"), request);
  } catch (const runner::RunError& error) {
    throw UsageError(fmt::format("--launcher: {}", error.what()));
  }
}

}  // namespace doetune::cli
