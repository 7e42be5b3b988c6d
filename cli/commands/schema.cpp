#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "study/file/schema.h"

namespace doetune::cli {

void describe_schema(Options& options) {
  options.add()("of", boost::program_options::value<std::string>()->value_name("NAME"),
                "instead of the study file: the output of a command with --json, or fit.json, "
                "optimum.json, report.json");
  options.choices("of", {document_names()});
}

int command_schema(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  fmt::print("{}",
             options.has("of") ? document_schema(options.text("of")) : study::study_json_schema());
  return kDone;
}

}  // namespace doetune::cli
