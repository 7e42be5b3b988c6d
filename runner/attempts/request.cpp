#include "runner/attempts/request.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "base/bounded_file.h"
#include "base/nearest_name.h"
#include "base/random.h"
#include "base/untrusted_json.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"
#include "study/directory/progress.h"

namespace doetune::runner {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kRunSeeds = 0x72756e73;  // "runs": a separate family of random streams

Json json_number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::abs(value) < kExact)
    return static_cast<std::int64_t>(value);
  return value;
}

Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json();
}

Json factor_value(const doe::Factor& factor, double setting) {
  return factor.is_categorical() ? Json(factor.format(setting)) : json_number(setting);
}

Json factor_values(const study::Study& study, const study::PlannedRun& run) {
  Json values = Json::object();
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    values[study.factors[i].name] = factor_value(study.factors[i], run.settings[i]);
  }
  return values;
}

Json setting_value(const study::Setting& setting) {
  return setting.number ? json_number(*setting.number) : Json(setting.text);
}

}  // namespace

std::uint64_t run_seed(std::uint64_t study_seed, int run) {
  return RandomStream(study_seed, (kRunSeeds << 32) + static_cast<std::uint64_t>(run)).next() >> 11;
}

std::string request_text(const study::StudyDirectory& directory, const study::PlannedRun& run,
                         int attempt, const Slot& slot) {
  const study::Study& study = directory.study;
  Json settings = Json::object();
  for (const study::Setting& setting : study.settings) {
    settings[setting.name] = setting_value(setting);
  }
  Json request{{"study", study.name},
               {"plan", directory.plan_hash},
               {"run", run.run},
               {"attempt", attempt},
               {"replicate", run.replicate},
               {"seed", run_seed(study.seed, run.run)}};
  request["factors"] = factor_values(study, run);
  request["settings"] = settings;
  request["gpus"] = slot.gpus;
  request["cpus"] = slot.cpus;
  if (slot.server) {
    request["server"] = {
        {"host", slot.server->host}, {"port", slot.server->port}, {"names", server_names(study)}};
  }
  request["time_limit_s"] = json_number(study.run.timeout_s);
  request["warmup_s"] = number_or_null(study.run.warmup_s);
  request["repeats"] = study.run.repeats;
  request["precision"] = number_or_null(study.run.precision);
  request["min_time_s"] = number_or_null(study.run.min_time_s);
  request["max_time_s"] = number_or_null(study.run.max_time_s);
  request["responses"] = Json::array();
  for (const study::Response& response : study.responses) {
    if (response.formula.empty()) request["responses"].push_back(response.name);
  }
  return request.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_request_of(const std::filesystem::path& attempt_directory,
                   const study::StudyDirectory& directory, const study::PlannedRun& run,
                   int attempt) {
  const auto text = read_bounded(attempt_directory / "request.json", kMaxJsonBytes);
  const auto request = text ? parse_untrusted(*text) : std::nullopt;
  if (!request) return false;
  const auto is = [&](const char* key, const nlohmann::json& value) {
    const auto found = request->find(key);
    return found != request->end() && *found == value;
  };
  return is("plan", directory.plan_hash) && is("run", run.run) && is("attempt", attempt) &&
         is("factors", factor_values(directory.study, run));
}

std::vector<std::string> server_names(const study::Study& study) {
  const study::ServerSettings& server = study.run.server;
  std::set<std::string> used = study::names_in({server.ready_address});
  for (const auto* command : {&server.set_up, &server.ready_command, &server.tear_down}) {
    used.merge(study::names_in(*command));
  }
  used.erase("host");
  used.erase("port");
  return {used.begin(), used.end()};
}

Placeholders run_placeholders(const study::Study& study, const study::PlannedRun& run,
                              const std::optional<ServerAddress>& server) {
  Placeholders values;
  if (!study.run.server.set_up.empty()) {
    values["host"] = server ? server->host : "{host}";
    values["port"] = server ? fmt::format("{}", server->port) : "{port}";
  }
  for (const study::Setting& setting : study.settings) values[setting.name] = setting.text;
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    values[study.factors[i].name] = study.factors[i].format(run.settings[i]);
  }
  return values;
}

Placeholders plot_placeholders(const study::Study& study, const study::PlannedRun& run,
                               const std::optional<ServerAddress>& server) {
  Placeholders values = run_placeholders(study, run, server);
  if (!study::has_hard_to_change(study)) return values;
  for (const doe::Factor& factor : study.factors) {
    if (!factor.hard_to_change) values.erase(factor.name);
  }
  return values;
}

std::vector<std::string> fill_arguments(const std::vector<std::string>& arguments,
                                        const std::string& key, const Placeholders& values) {
  std::string place;
  const auto value = [&](const std::string& name) {
    const auto found = values.find(name);
    if (found != values.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& entry : values) names.push_back(entry.first);
    throw RunError(fmt::format("{}: there is no '{{{}}}'{} (write {{{{ for a literal brace)", key,
                               name, did_you_mean_or_list(name, names)),
                   place);
  };
  std::vector<std::string> filled;
  try {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      place = fmt::format("{}.{}", key, i);
      filled.push_back(study::fill_argument(arguments, i, value));
    }
  } catch (const std::invalid_argument& error) {
    throw RunError(fmt::format("{}: {}", key, error.what()), place);
  }
  return filled;
}

Command study_command(const study::StudyDirectory& directory,
                      const std::vector<std::string>& arguments, const std::string& key,
                      const Placeholders& values) {
  Command command;
  command.arguments = fill_arguments(arguments, key, values);
  command.working_directory = directory.working_directory;
  command.environment = directory.study.run.environment;
  try {
    command.program = find_program(command.arguments.front(), command.working_directory,
                                   search_path(command.environment));
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: {}", key, error.what()), key);
  }
  return command;
}

std::vector<std::string> fill_command(const study::Study& study, const study::PlannedRun& run,
                                      int attempt, const std::filesystem::path& directory,
                                      const std::optional<ServerAddress>& server,
                                      std::optional<double> load) {
  Placeholders values = run_placeholders(study, run, server);
  if (study.search) {
    const doe::Factor& searched = study.search->load;
    values[searched.name] = load ? searched.format(*load) : fmt::format("{{{}}}", searched.name);
  }
  values.insert({{"run", fmt::format("{}", run.run)},
                 {"attempt", fmt::format("{}", attempt)},
                 {"seed", fmt::format("{}", run_seed(study.seed, run.run))},
                 {"request", (directory / "request.json").string()},
                 {"result", (directory / "result.json").string()}});
  return fill_arguments(study.command, "command", values);
}

int count_in(const study::Count& count, const study::Study& study, const study::PlannedRun& run) {
  if (count.factor.empty()) return count.fixed;
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    if (study.factors[i].name != count.factor) continue;
    const double value = run.settings[i];
    if (value == std::floor(value) && value >= 0 && value <= 1e6) return static_cast<int>(value);
    throw RunError(fmt::format("run {}: factor '{}' gives a number of GPUs or processes and must "
                               "be an integer of at least 0, not {}",
                               run.run, count.factor, study.factors[i].format(value)),
                   "factors." + count.factor);
  }
  throw RunError(fmt::format("'{}' is not a factor", count.factor), "run");
}

std::map<std::string, std::string> attempt_environment(const study::Study& study,
                                                       const std::filesystem::path& directory,
                                                       const Slot& slot) {
  std::map<std::string, std::string> environment = program_environment(study, slot);
  environment["DOETUNE_REQUEST"] = (directory / "request.json").string();
  environment["DOETUNE_RESULT"] = (directory / "result.json").string();
  environment["DOETUNE_PROGRESS"] = study::progress_file(directory).string();
  return environment;
}

std::map<std::string, std::string> program_environment(const study::Study& study,
                                                       const Slot& slot) {
  std::map<std::string, std::string> environment = study.run.environment;
  if (slot.server) {
    environment["DOETUNE_HOST"] = slot.server->host;
    environment["DOETUNE_PORT"] = fmt::format("{}", slot.server->port);
  }
  const study::Count& gpus = study.run.gpus_per_run;
  if (!slot.scheduled && (gpus.fixed > 0 || !gpus.factor.empty())) {
    environment["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(slot.gpus, ","));
  }
  return environment;
}

}  // namespace doetune::runner
