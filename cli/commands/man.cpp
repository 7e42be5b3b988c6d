#include <fmt/format.h>

#include <filesystem>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/help/man_page.h"
#include "cli/terminal/terminal.h"
#include "study/files.h"

namespace doetune::cli {
namespace {

constexpr const char* kStudyPage = "study";

std::vector<std::string> page_names() {
  std::vector<std::string> names{kStudyPage};
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

/// The page with a known name; without a name doetune(1).
std::string page_text(const std::string& name) {
  if (name.empty()) return main_page();
  return name == kStudyPage ? study_page() : command_page(*find_command(name));
}

/// Writes DIR/man1/doetune.1 and the others, as installed by CMake.
void write_pages(const std::filesystem::path& directory) {
  for (const char* section : {"man1", "man5"}) {
    std::filesystem::create_directories(directory / section);
  }
  study::write_file_atomically(directory / "man1" / "doetune.1", main_page());
  study::write_file_atomically(directory / "man5" / "doetune-study.5", study_page());
  for (const Command& command : commands()) {
    study::write_file_atomically(directory / "man1" / fmt::format("doetune-{}.1", command.name),
                                 command_page(command));
  }
}

json::Format<std::string> page_format() {
  return json::document<std::string>({{"roff", std::identity()}});
}

}  // namespace

json::Schema man_schema() { return page_format().schema; }

void describe_man(Options& options) {
  options.add()("output,o", boost::program_options::value<std::string>()->value_name("DIR"),
                "write all pages into this directory instead");
  options.add_positional("PAGE", 1);
  options.choices("PAGE", {page_names()});
}

int command_man(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> page = options.list("PAGE");
  if (options.has("output")) {
    write_pages(options.text("output"));
    return kDone;
  }
  const std::string text = page_text(page.empty() ? "" : page.front());
  if (options.json()) {
    fmt::print("{}", page_format().text(text));
  } else {
    fmt::print("{}", text);
  }
  return kDone;
}

}  // namespace doetune::cli
