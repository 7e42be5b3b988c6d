#include "cli/options/run_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/standard_streams.h"
#include "cli/options/run_numbers.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

std::vector<std::string> launcher_names() {
  std::vector<std::string> names;
  for (const runner::LauncherType& type : runner::launcher_types()) names.emplace_back(type.name);
  return names;
}

}  // namespace

void add_run_options(Options& options) {
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  options.add()("jobs,j", po::value<int>()->value_name("N"),
                "number of concurrent runs, instead of the study's")(
      "launcher", text("NAME"), "where runs are executed, instead of the study's")(
      "gpus", text("LIST"), "the GPUs to use, e.g. 0,1");
  options.choices("launcher", {launcher_names()});
}

runner::RunOptions run_options(const Options& options) {
  runner::RunOptions run;
  if (options.has("jobs")) run.jobs = options.integer("jobs", 1);
  if (run.jobs.value_or(1) < 1) {
    throw UsageError(
        fmt::format("--jobs: expected an integer of at least 1, found '{}'", *run.jobs));
  }
  run.gpus = split_list(options.text("gpus"));
  return run;
}

std::unique_ptr<runner::Launcher> make_launcher(const Options& options,
                                                const study::StudyDirectory& directory) {
  const study::Study& study = directory.study;
  const runner::LauncherRequest request{
      study.name, std::filesystem::absolute(directory.path), study.run,
      [](const std::string& text) { print_message("{}\n", text); }};
  return runner::make_launcher(options.text("launcher", study.run.launcher), request);
}

}  // namespace doetune::cli
