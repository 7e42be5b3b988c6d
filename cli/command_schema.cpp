#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/documents.h"
#include "study/schema.h"

namespace doetune::cli {

void describe_schema(Options& options) {
  options.add()("of", boost::program_options::value<std::string>(),
                "instead of the study file: what a command prints with --json, or fit.json, "
                "optimum.json, report.json");
}

int command_schema(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  fmt::print("{}",
             options.has("of") ? document_schema(options.text("of")) : study::study_json_schema());
  return kDone;
}

}  // namespace doetune::cli
