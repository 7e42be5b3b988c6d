#include "cli/options/search_options.h"

#include <fmt/format.h>

#include "tuning/search.h"

namespace po = boost::program_options;

namespace doetune::cli {

void add_search(Options& options) {
  options.add()(
      "budget", po::value<int>()->value_name("N"),
      "total number of runs, including confirmation runs (default: 10 per factor plus 10)")(
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

}  // namespace doetune::cli
