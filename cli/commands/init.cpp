#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/files/proposed_study.h"
#include "cli/files/study_templates.h"
#include "cli/terminal/terminal.h"
#include "study/directory/directory.h"
#include "study/formats/format.h"

namespace doetune::cli {
namespace {

/// The requested study file, of this name.
std::string text_of(const Options& options, const std::string& study) {
  if (options.has("demo")) return std::string(demo_study());
  if (const std::vector<std::string> files = options.list("from"); !files.empty()) {
    study::ResultSources sources;
    sources.paths.assign(files.begin(), files.end());
    return propose_study(study::read_results(sources).table, study, files);
  }
  const std::string name = options.text("template", std::string(study_templates().front().name));
  for (const StudyTemplate& known : study_templates()) {
    if (known.name == name) return std::string(known.text);
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
      "from", boost::program_options::value<std::vector<std::string>>()->value_name("RESULTS"),
      "propose a study for these results, files or folders that `doetune import` reads; "
      "repeatable")("demo",
                    "a one-minute study for two CPU cores that shows every step once (demo.yaml)")(
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
  if (options.has("from") && (demo || options.has("template"))) {
    throw UsageError("doetune init: --from reads results, and takes no --demo or --template");
  }
  const std::vector<std::string> given = options.list("FILE");
  if (!given.empty() && given.front() == "-") {
    if (options.json()) throw UsageError("doetune init: - or --json, not both");
    fmt::print("{}", text_of(options, "study"));
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
  study::write_file_atomically(file, text_of(options, file.stem().string()));
  if (options.json()) {
    fmt::print("{}", file_format().text(file));
  } else {
    fmt::print("{} written{}\n", file.string(), demo ? "" : ": edit it, then continue");
  }
  const std::string name = file.stem().string();
  say_next(demo ? fmt::format("doetune plan {} && doetune run {} && doetune report {}",
                              file.string(), name, name)
           : options.has("from")
               ? fmt::format("doetune import {} {}", file.string(), options.list("from").front())
           : options.text("template") == "import"
               ? fmt::format("doetune import {} DATA.csv", file.string())
               : fmt::format("doetune check {}", file.string()));
  return kDone;
}

}  // namespace doetune::cli
