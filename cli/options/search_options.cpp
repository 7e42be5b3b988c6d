#include "cli/options/search_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "study/file/yaml.h"
#include "tuning/search.h"
#include "tuning/study_search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

/// Whether there are several goals that are no limits.
bool has_front(const study::Study& study) {
  const auto objectives = tuning::problem_of(study).objectives;
  return std::count_if(objectives.begin(), objectives.end(),
                       [](const auto& objective) { return !objective.goal.is_limit(); }) > 1;
}

double tolerance_given(const Options& options) {
  const std::string text = options.text("tolerance");
  const double fraction = study::parse_number(text).value_or(-1);
  if (fraction >= 0) return fraction;
  throw UsageError(
      fmt::format("--tolerance: expected a fraction of the best, such as 0.01, found '{}'", text));
}

}  // namespace

void add_search(Options& options) {
  options.add()(
      "budget", po::value<int>()->value_name("N"),
      "total number of runs, including confirmation runs (default: 10 per factor plus 10)")(
      "tolerance", po::value<std::string>()->value_name("GAIN"),
      "stop when another run is expected to gain less than this fraction of the best (0.01)")(
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

study::SearchState limits_given(const Options& options, const study::Study& study,
                                study::SearchState before) {
  const int usual = before.budget > 0 ? before.budget : tuning::default_budget(study);
  before.budget = positive_option(options, "budget", usual);
  if (options.has("tolerance")) before.tolerance = tolerance_given(options);
  if (options.has("front") && !has_front(study)) {
    throw UsageError(
        "--front: the study has one goal; expected two or more responses with the goal maximize, "
        "minimize or target");
  }
  before.front = (before.front || options.has("front")) && has_front(study);
  return before;
}

}  // namespace doetune::cli
