#include "runner/attempts/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/nearest_name.h"
#include "base/untrusted_json.h"
#include "runner/attempts/command.h"
#include "runner/attempts/request.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/telemetry_quantities.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
/// Standard output of `program --describe`; kills whatever the program leaves running.
std::string ask(const fs::path& program, double timeout_s) {
  Command command{program, {program.string(), "--describe"}};
  command.time_limit_s = timeout_s;
  const CommandResult result = run_command(command);
  if (!result.problem.empty()) {
    throw RunError(fmt::format("{} --describe: {}", program.string(), result.problem));
  }
  return result.output;
}

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<double> number_at(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

WorkloadFactor factor_of(const nlohmann::json& object) {
  WorkloadFactor factor;
  factor.name = object.at("name").get<std::string>();
  factor.kind = object.value("kind", "continuous");
  factor.unit = object.value("unit", "");
  factor.description = object.value("description", "");
  factor.low = number_at(object, "low");
  factor.high = number_at(object, "high");
  for (const nlohmann::json& level : object.value("levels", nlohmann::json::array())) {
    factor.levels.push_back(text_of(level));
  }
  factor.words = object.value("words", factor.words);
  if (object.contains("default")) factor.default_text = text_of(object.at("default"));
  return factor;
}

std::string range_of(const WorkloadFactor& known) {
  if (known.low && known.high) return fmt::format("{} to {}", *known.low, *known.high);
  return known.low ? fmt::format("{} or more", *known.low) : fmt::format("{} or less", *known.high);
}

/// An entry of the study file to check against the workload.
struct Subject {
  std::string key;   ///< "factors.batch_size"
  std::string text;  ///< "factor 'batch_size'"
  std::vector<NameProblem>& problems;

  void complain(const std::string& message) const { problems.push_back({key, text + message}); }
};

void check_number(const Subject& subject, std::string_view what, double value,
                  const WorkloadFactor& known) {
  const bool below = known.low && value < *known.low;
  const bool above = known.high && value > *known.high;
  if (below || above) {
    subject.complain(fmt::format("{} is {}; the workload takes {}", what, value, range_of(known)));
  }
}

void check_text(const Subject& subject, const std::string& text, const WorkloadFactor& known) {
  if (known.levels.empty() ||
      std::find(known.levels.begin(), known.levels.end(), text) != known.levels.end()) {
    return;
  }
  subject.complain(
      fmt::format(": the workload has no '{}'{}", text, did_you_mean_or_list(text, known.levels)));
}

void check_factor(const Subject& subject, const doe::Factor& factor, const WorkloadFactor& known) {
  if (factor.is_categorical()) {
    for (const std::string& level : factor.level_names) check_text(subject, level, known);
    return;
  }
  if (known.kind == "categorical") {
    subject.complain(fmt::format(" is categorical: {}", fmt::join(known.levels, ", ")));
    return;
  }
  check_number(subject, ": low", factor.low, known);
  check_number(subject, ": high", factor.high, known);
  for (const double level : factor.levels) check_text(subject, factor.format(level), known);
}

void check_setting(const Subject& subject, const study::Setting& setting,
                   const WorkloadFactor& known) {
  if (known.kind == "text") return;
  if (std::find(known.words.begin(), known.words.end(), setting.text) != known.words.end()) return;
  if (setting.number) {
    check_number(subject, "", *setting.number, known);
  } else if (known.kind != "categorical" && known.levels.empty()) {
    subject.complain(fmt::format(" is '{}'; the workload takes a number", setting.text));
  }
  check_text(subject, setting.text, known);
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> names;
  for (const Named& entry : list) names.push_back(entry.name);
  return names;
}

template <class Named>
const Named* find_named(const std::vector<Named>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Named& entry) { return entry.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::vector<fs::path> workload_directories() {
  std::vector<fs::path> directories;
  if (const char* given = std::getenv("DOETUNE_WORKLOADS")) {
    const std::string text(given);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(':', begin), text.size());
      std::error_code nowhere;  // there may be no current directory, so that a relative path fails
      const fs::path directory = fs::absolute(text.substr(begin, end - begin), nowhere);
      if (end > begin && !nowhere) directories.push_back(directory);
      begin = end + 1;
    }
  }
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  directories.push_back(here / "workloads");
  directories.push_back((here / "../libexec/doetune/workloads").lexically_normal());
  return directories;
}

std::vector<std::string> workload_names() {
  std::set<std::string> names;
  for (const fs::path& directory : workload_directories()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      if (is_executable(entry.path())) names.insert(entry.path().filename().string());
    }
  }
  return {names.begin(), names.end()};
}

fs::path find_workload(const std::string& name) {
  const auto directories = workload_directories();
  if (name.find('/') == std::string::npos && !name.empty()) {
    for (const fs::path& directory : directories) {
      if (is_executable(directory / name)) return directory / name;
    }
  }
  const auto names = workload_names();
  std::vector<std::string> looked;
  for (const fs::path& directory : directories) looked.push_back(directory.string());
  throw RunError(fmt::format("there is no workload '{}'{} (looked in {})", name,
                             did_you_mean_or_list(name, names), fmt::join(looked, ", ")),
                 "workload");
}

WorkloadDescription describe_workload(const fs::path& program, double timeout_s) {
  const auto object = last_object(ask(program, timeout_s));
  if (!object)
    throw RunError(fmt::format("{} --describe printed no JSON object", program.string()));
  try {
    WorkloadDescription description;
    description.name = object->at("name").get<std::string>();
    description.summary = object->value("summary", "");
    for (const nlohmann::json& factor : object->at("factors")) {
      description.factors.push_back(factor_of(factor));
    }
    for (const nlohmann::json& response : object->at("responses")) {
      description.responses.push_back({response.at("name").get<std::string>(),
                                       response.value("unit", ""),
                                       response.value("description", "")});
    }
    return description;
  } catch (const nlohmann::json::exception& error) {
    throw RunError(fmt::format("{} --describe: {}", program.string(), error.what()));
  }
}

std::vector<NameProblem> check_names(const study::Study& study,
                                     const WorkloadDescription& description) {
  std::vector<NameProblem> problems;
  const auto known_names = names_of(description.factors);
  const std::vector<std::string> of_server = server_names(study);
  const auto unknown = [&](const Subject& subject, std::string_view what, const std::string& name,
                           const std::vector<std::string>& valid) {
    subject.complain(fmt::format(": the workload {} has no {} of this name{}", description.name,
                                 what, did_you_mean_or_list(name, valid)));
  };
  const auto unknown_input = [&](const Subject& subject, const std::string& name) {
    if (std::find(of_server.begin(), of_server.end(), name) != of_server.end()) return;
    unknown(subject, "input", name, known_names);
  };
  const auto about = [&](std::string_view section, std::string_view what, const std::string& name) {
    return Subject{fmt::format("{}.{}", section, name), fmt::format("{} '{}'", what, name),
                   problems};
  };
  for (const doe::Factor& factor : study.factors) {
    const Subject subject = about("factors", "factor", factor.name);
    const auto* known = find_named(description.factors, factor.name);
    known == nullptr ? unknown_input(subject, factor.name) : check_factor(subject, factor, *known);
  }
  if (study.search) {
    const doe::Factor& load = study.search->load;
    const Subject subject = about("factors", "factor", load.name);
    const auto* known = find_named(description.factors, load.name);
    known == nullptr ? unknown(subject, "input", load.name, known_names)
                     : check_factor(subject, load, *known);
  }
  for (const study::Setting& setting : study.settings) {
    const Subject subject = about("settings", "setting", setting.name);
    const auto* known = find_named(description.factors, setting.name);
    known == nullptr ? unknown_input(subject, setting.name)
                     : check_setting(subject, setting, *known);
  }
  for (const study::Response& response : study.responses) {
    if (study.search && response.name == study.search->load.name) continue;
    const bool measured = response.formula.empty() && response.pattern.empty() &&
                          study::find_quantity(response.name) == nullptr;
    if (measured && find_named(description.responses, response.name) == nullptr) {
      unknown(about("responses", "response", response.name), "response", response.name,
              names_of(description.responses));
    }
  }
  return problems;
}

}  // namespace doetune::runner
