#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "analysis/format.h"
#include "cli/command_list.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "study/restore.h"

namespace doetune::cli {
namespace {

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

void describe_restore(Options& options) { add_directory(options); }

int command_restore(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::filesystem::path path = given_directory(options);
  const study::Restored restored = study::restore_directory(path);
  if (options.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema_version", 1},
                                              {"directory", path.string()},
                                              {"runs", restored.runs},
                                              {"files", restored.files},
                                              {"moved", restored.moved}}
                           .dump(2));
  } else {
    print_restored(path, restored);
  }
  say_next(fmt::format("doetune status {}", path.string()));
  return kDone;
}

}  // namespace doetune::cli
