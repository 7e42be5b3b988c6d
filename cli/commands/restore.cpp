#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/terminal.h"
#include "study/argument_template.h"
#include "study/directory/restore.h"

namespace doetune::cli {
namespace {

struct RestoredDirectory {
  std::filesystem::path path;
  study::Restored restored;
};

json::Format<RestoredDirectory> restored_format() {
  const auto restored = json::object<study::Restored>({{"runs", &study::Restored::runs},
                                                       {"files", &study::Restored::files},
                                                       {"moved", &study::Restored::moved}});
  return json::document<RestoredDirectory>(
      {{"directory", &RestoredDirectory::path}, {&RestoredDirectory::restored, restored}});
}

void print_restored(const std::filesystem::path& path, const study::Restored& restored) {
  if (restored.files.empty()) {
    fmt::print("{}: nothing to restore, all of {} can be read\n", path.string(),
               analysis::count_of(restored.runs, "run"));
    return;
  }
  fmt::print("{}: {} written from the journal, with {}\n", path.string(),
             fmt::join(restored.files, ", "), analysis::count_of(restored.runs, "run"));
  if (!restored.moved.empty()) {
    fmt::print("what was there is kept as {}\n", fmt::join(restored.moved, ", "));
  }
}

}  // namespace

json::Schema restore_schema() { return restored_format().schema; }

void describe_restore(Options& options) { add_directory(options); }

int command_restore(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::filesystem::path path = given_directory(options);
  const study::Restored restored = study::restore_directory(path);
  if (options.json()) {
    fmt::print("{}", restored_format().text({path, restored}));
  } else {
    print_restored(path, restored);
  }
  say_next(fmt::format("doetune status {}", study::shell_quoted(path.string())));
  return kDone;
}

}  // namespace doetune::cli
