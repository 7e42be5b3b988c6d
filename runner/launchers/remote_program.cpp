#include "runner/launchers/remote_program.h"

#include <fmt/format.h>

#include "runner/processes/program.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {

std::filesystem::path attempt_program(const std::string& given, const std::string& key) {
  if (!given.empty()) return given;
  const auto file = program_beside("doetune-attempt");
  if (is_executable(file)) return file;
  throw RunError(fmt::format("{}, which starts runs on other machines, does not exist; build it, "
                             "or set its path in {}",
                             file.string(), key),
                 key);
}

}  // namespace doetune::runner
