#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/files/study_templates.h"
#include "cli/terminal/terminal.h"
#include "study/directory/directory.h"

namespace doetune::cli {
namespace {

/// The requested study file.
std::string_view text_of(const Options& options) {
  if (options.has("demo")) return demo_study();
  const std::string name = options.text("template", std::string(study_templates().front().name));
  for (const StudyTemplate& known : study_templates()) {
    if (known.name == name) return known.text;
  }
  throw std::logic_error("a template that was not checked: " + name);
}

json::Format<std::filesystem::path> file_format() {
  return json::document<std::filesystem::path>({{"file", std::identity()}});
}

}  // namespace

json::Schema init_schema() { return file_format().schema; }

void describe_init(Options& options) {
  Choices names;
  std::string texts;
  for (const StudyTemplate& known : study_templates()) {
    names.words.emplace_back(known.name);
    texts += fmt::format("{}{}: {}", texts.empty() ? "" : "; ", known.name, known.summary);
  }
  options.add()("template,t", boost::program_options::value<std::string>()->value_name("NAME"),
                ("template to start from (" + names.words.front() + "). " + texts).c_str())(
      "demo", "a one-minute study for two CPU cores that shows every step once (demo.yaml)")(
      "force", "replace an existing file");
  options.choices("template", std::move(names));
  options.add_positional("FILE", 1);
}

int command_init(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const bool demo = options.has("demo");
  if (demo && options.has("template")) {
    throw UsageError("doetune init: --demo or --template, not both");
  }
  const std::vector<std::string> given = options.list("FILE");
  if (!given.empty() && given.front() == "-") {
    if (options.json()) throw UsageError("doetune init: - or --json, not both");
    fmt::print("{}", text_of(options));
    return kDone;
  }
  const std::filesystem::path file = !given.empty() ? given.front()
                                     : demo         ? "demo.yaml"
                                                    : "study.yaml";
  if (std::filesystem::is_directory(file)) {
    throw UsageError(
        fmt::format("doetune init: {} is a directory; name a file in it", file.string()));
  }
  if (std::filesystem::exists(file) && !options.has("force")) {
    throw UsageError(
        fmt::format("doetune init: {} already exists; --force replaces it", file.string()));
  }
  study::write_file_atomically(file, std::string(text_of(options)));
  if (options.json()) {
    fmt::print("{}", file_format().text(file));
  } else {
    fmt::print("{} written{}\n", file.string(), demo ? "" : ": edit it, then continue");
  }
  const std::string name = file.stem().string();
  say_next(demo ? fmt::format("doetune plan {} && doetune run {} && doetune report {}",
                              file.string(), name, name)
           : options.text("template") == "import"
               ? fmt::format("doetune import {} DATA.csv", file.string())
               : fmt::format("doetune check {}", file.string()));
  return kDone;
}

}  // namespace doetune::cli
