#include "runner/launchers/stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/hash.h"
#include "runner/attempts/printed_attempt.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// A folder name for each study directory, without special characters.
std::string folder_name(const std::filesystem::path& directory) {
  return "doetune-" + text_hash(directory.lexically_normal().string()).substr(0, 8);
}

}  // namespace

Stage::Stage(study::StageSettings settings, std::filesystem::path study_directory)
    : settings_(std::move(settings)),
      study_directory_(std::move(study_directory)),
      folder_(settings_.to + "/" + folder_name(study_directory_)) {}

void Stage::refuse_servers(const study::RunSettings& run) {
  require(run.server.set_up.empty(),
          "servers of whole plots need a study directory that the machines share, without a stage",
          "run.set_up");
}

Attempt Stage::there(Attempt attempt) const {
  const std::string here = attempt.directory.string(), there = directory_there(attempt);
  for (std::string& argument : attempt.arguments) replace_all(argument, here, there);
  for (auto& [name, value] : attempt.environment) replace_all(value, here, there);
  attempt.environment["DOETUNE_STAGED"] = fmt::format("{}", fmt::join(settings_.files, " "));
  attempt.working_directory = settings_.files.empty() ? "" : files_folder();
  return attempt;
}

std::vector<std::string> Stage::arguments(const Attempt& attempt) const {
  return {"--attached", directory_there(attempt),
          study::read_file(attempt.directory / "attempt.json"), study::read_file(attempt.request()),
          study::read_file(study_directory_ / "study.yaml")};
}

void Stage::store(ClientAnswer& answer, const Attempt& attempt) {
  try {
    store_printed_attempt(answer.output, attempt.directory);
  } catch (const study::DirectoryError& error) {
    answer.errors = error.what();
  }
}

std::string Stage::directory_there(const Attempt& attempt) const {
  return folder_ + "/runs/" + attempt.directory.filename().string();
}

}  // namespace doetune::runner
