#include "cli/runs/search_directory.h"

#include <fmt/format.h>

#include "cli/runs/program_check.h"
#include "study/files.h"
#include "tuning/search.h"

namespace po = boost::program_options;

namespace doetune::cli {

void add_search(Options& options) {
  options.add()("budget", po::value<int>()->value_name("N"),
                "number of runs in all, with those that confirm (10 per factor, and 10)")(
      "output,o", po::value<std::string>()->value_name("DIR"),
      "the study directory to create (default: the study file's name)");
  options.add_positional("PATH", 1);
}

int positive_option(const Options& options, const char* name, int otherwise) {
  const int value = options.integer(name, otherwise);
  if (value >= 1) return value;
  throw UsageError(fmt::format("--{}: expected an integer of at least 1, found '{}'", name, value));
}

int search_budget(const Options& options, const study::Study& study) {
  return positive_option(options, "budget", tuning::default_budget(study));
}

study::StudyDirectory search_directory(const Options& options, Executes by) {
  const std::filesystem::path path = options.required("PATH");
  if (study::is_study_directory(path)) return study::open_directory(path);
  const std::filesystem::path place = options.text("output", path.stem().string());
  const study::Study study = study::load_study(path);
  if (study::is_study_directory(place)) {
    study::StudyDirectory directory = study::open_directory(place);
    tuning::check_same_study(directory, study);
    return directory;
  }
  const int budget = search_budget(options, study);
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return tuning::create_search(place, study, budget, [&](const study::Plan& plan) {
    if (by == Executes::kDoetune) check_program({place, study, plan, "", folder});
  });
}

}  // namespace doetune::cli
