#include "analysis/settings_forms.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "study/argument_template.h"

namespace doetune::analysis {
namespace {

/// A setting as a YAML scalar; levels are quoted, since YAML would interpret `no` or `1e3`.
std::string yaml_scalar(const doe::Factor& factor, double natural) {
  if (!factor.is_categorical()) return factor.format(natural);
  std::string quoted = "\"";
  for (const char c : factor.format(natural)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::map<std::string, std::string> values_by_name(const study::Study& study,
                                                  const std::vector<double>& settings) {
  std::map<std::string, std::string> values;
  for (const study::Setting& setting : study.settings) values[setting.name] = setting.text;
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    values[study.factors[f].name] = study.factors[f].format(settings[f]);
  }
  return values;
}

/// What a command that is started by hand is told in place of a run's number and seed.
std::string value_outside_runs(const study::Study& study, const std::string& name) {
  if (name == "run" || name == "attempt") return "1";
  return name == "seed" ? std::to_string(study.seed) : "{" + name + "}";
}

/// The words with their placeholders filled, quoted for a shell; empty if they contain no factor.
std::string filled_line(const study::Study& study, const std::vector<std::string>& words,
                        const std::map<std::string, std::string>& values) {
  std::string line;
  const std::vector<std::string> factors = study.factor_names();
  const std::set<std::string> names(factors.begin(), factors.end());
  bool has_factor = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string filled = study::fill_argument(words, i, [&](const std::string& name) {
      has_factor = has_factor || names.count(name) > 0;
      const auto found = values.find(name);
      return found == values.end() ? value_outside_runs(study, name) : found->second;
    });
    line += (line.empty() ? "" : " ") + study::shell_quoted(filled);
  }
  return has_factor ? line : "";
}

}  // namespace

std::string settings_as_yaml(const std::vector<doe::Factor>& factors,
                             const std::vector<double>& settings) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    text += fmt::format("{}: {}\n", factors[f].name, yaml_scalar(factors[f], settings[f]));
  }
  return text;
}

std::string settings_as_command(const study::Study& study, const std::vector<double>& settings) {
  const auto values = values_by_name(study, settings);
  if (!study.command.empty()) return filled_line(study, study.command, values);
  if (study.workload.empty()) return "";
  std::vector<std::string> words = {"doetune", "workload", study.workload};
  const std::set<std::string> of_server = study::names_in(study.run.server.set_up);
  for (const auto& [name, value] : values) {
    if (of_server.count(name) == 0) words.insert(words.end(), {"--" + name, "{" + name + "}"});
  }
  for (const char* name : {"host", "port"}) {  // where the server is, which each run is told
    const bool known = values.count(name) > 0 || values.count("url") > 0;
    if (of_server.count(name) > 0 && !known) {
      words.insert(words.end(), {fmt::format("--{}", name), fmt::format("{{{}}}", name)});
    }
  }
  return filled_line(study, words, values);
}

std::string settings_as_server_command(const study::Study& study,
                                       const std::vector<double>& settings) {
  return filled_line(study, study.run.server.set_up, values_by_name(study, settings));
}

}  // namespace doetune::analysis
