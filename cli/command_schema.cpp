#include <fmt/format.h>

#include "cli/command_list.h"
#include "study/schema.h"

namespace doetune::cli {

int command_schema(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  fmt::print("{}", study::study_json_schema());
  return kDone;
}

}  // namespace doetune::cli
