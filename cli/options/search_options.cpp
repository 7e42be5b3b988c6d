#include "cli/options/search_options.h"

#include <fmt/format.h>

#include "tuning/search.h"
#include "tuning/study_search.h"

namespace po = boost::program_options;

namespace doetune::cli {

void add_search(Options& options) {
  options.add()(
      "budget", po::value<int>()->value_name("N"),
      "total number of runs, including confirmation runs (default: 10 per factor plus 10)")(
      "output,o", po::value<std::string>()->value_name("DIR"),
      "the study directory to create (default: the study file's name)")(
      "front", "search for the Pareto front of several goals without preference");
  options.add_positional("PATH", 1);
}

int positive_option(const Options& options, const char* name, int otherwise) {
  const int value = options.integer(name, otherwise);
  if (value >= 1) return value;
  throw UsageError(fmt::format("--{}: expected an integer of at least 1, found '{}'", name, value));
}

bool searches_front(const Options& options, const study::Study& study) {
  if (!options.has("front")) return false;
  std::vector<std::string> goals;
  for (const tuning::Objective& objective : tuning::problem_of(study).objectives) {
    if (!objective.goal.is_limit()) goals.push_back(objective.name);
  }
  if (goals.size() > 1) return true;
  throw UsageError(
      fmt::format("--front: the study has one goal, {}; expected two or more responses with the "
                  "goal maximize, minimize or target",
                  goals.front()));
}

int search_budget(const Options& options, const study::Study& study) {
  return positive_option(options, "budget", tuning::default_budget(study));
}

}  // namespace doetune::cli
