// Parses the study file: its structure first (yaml.cpp), then the consistency of its values.
#include "study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>

#include "base/nearest_name.h"
#include "doe/design.h"
#include "doe/expression.h"
#include "doe/proposed_design.h"
#include "study/file/schema.h"
#include "study/file/sections.h"
#include "study/file/yaml.h"
#include "study/files.h"
#include "study/telemetry_quantities.h"

namespace doetune::study {
namespace {

constexpr std::uintmax_t kMaxBytes = 1 << 20;

/// Columns of plan.csv and results.csv: reserved names for factors and responses.
constexpr std::array kReserved{"run",        "standard_order", "point_type", "block", "replicate",
                               "whole_plot", "attempt",        "status",     "host",  "gpu",
                               "start",      "duration_s"};

/// A study name from a file name: characters other than letters, digits, '.', '-' and '_' become
/// '_'.
std::string printable_name(std::string name) {
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

class Reader {
 public:
  Reader(const YAML::Node& root, const std::filesystem::path& file, const std::string& text)
      : root_(root), file_(file) {
    study_.file = file;
    study_.text = text;
  }

  Study read() {
    mark_below(root_, "");
    study_.name = text_at(root_, "study", printable_name(file_.stem().string()));
    study_.seed = static_cast<std::uint64_t>(number_at(root_, "seed").value_or(1));
    read_program();
    read_factors();
    read_settings();
    read_region();
    read_design_section();
    read_model();
    if (root_["model"] && root_["model"].IsScalar() && root_["model"].Scalar() == "auto") {
      study_.fit.surface = doe::SurfaceType::kAuto;
    }
    study_.fit = read_fit(root_["fit"], study_.fit, study_.factors, file_);
    read_responses();
    check_search();
    read_run_section();
    study_.feasibility = number_at(root_, "feasibility").value_or(study_.feasibility);
    read_infeasible_when();
    study_.confirmation_runs =
        whole_at(root_["confirm"], "runs").value_or(study_.confirmation_runs);
    return std::move(study_);
  }

 private:
  void read_infeasible_when() {
    for (const auto& entry : root_["infeasible_when"]) {
      const std::string& name = entry.first.Scalar();
      const auto factor = std::find_if(study_.factors.begin(), study_.factors.end(),
                                       [&](const doe::Factor& f) { return f.name == name; });
      if (factor == study_.factors.end()) {
        fail(entry.first, fmt::format("infeasible_when: there is no factor '{}'{}", name,
                                      did_you_mean_or_list(name, study_.factor_names())));
      }
      if (factor->is_categorical()) {
        fail(entry.first, fmt::format("infeasible_when: '{}' is categorical; only a numeric factor "
                                      "has higher and lower settings",
                                      name));
      }
      study_.infeasible_when[name] = *doe::choice_of<doe::InfeasibleWhen>(entry.second.Scalar());
    }
  }

  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const {
    fail_at(file_, node, message);
  }

  void check_name(const YAML::Node& key, const char* what) {
    const std::string& name = key.Scalar();
    mark(fmt::format("{}s.{}", what, name), key);
    if (is_reserved_name(name)) {
      fail(key, fmt::format("{} '{}': the name is a column of the run sheet; choose another", what,
                            name));
    }
    if (const auto [other, is_new] = names_.emplace(name, what); !is_new) {
      fail(key, fmt::format("{} '{}': a {} already has this name; choose another", what, name,
                            other->second));
    }
  }

  /// Records the position of every value: "run.ssh.hosts", in lists "command.0".
  void mark_below(const YAML::Node& node, const std::string& path) {
    const auto at = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (node.IsMap()) {
      for (const auto& entry : node) {
        mark(at(entry.first.Scalar()), entry.second);
        mark_below(entry.second, at(entry.first.Scalar()));
      }
    } else if (node.IsSequence()) {
      for (std::size_t i = 0; i < node.size(); ++i) {
        mark(at(std::to_string(i)), node[i]);
        mark_below(node[i], at(std::to_string(i)));
      }
    }
  }

  void mark(const std::string& key, const YAML::Node& node) {
    study_.locations[key] = fmt::format("{}:{}", node.Mark().line + 1, node.Mark().column + 1);
  }

  void read_program() {
    study_.workload = text_at(root_, "workload", "");
    const YAML::Node command = root_["command"];
    if (!command) return;
    if (root_["workload"]) fail(command, "a study has a workload or a command, not both");
    study_.command = texts(command);
    if (study_.command.empty()) fail(command, "command: the list is empty");
  }

  void read_factors() {
    const YAML::Node factors = root_["factors"];
    if (factors.size() == 0) fail(factors, "factors: a study needs at least one factor");
    for (const auto& entry : factors) {
      check_name(entry.first, "factor");
      entry.second["search"] ? read_search(entry.first, entry.second)
                             : read_varied(entry.first, entry.second);
    }
    if (study_.factors.empty()) {
      fail(factors, "factors: a study needs a factor besides the one with search: largest");
    }
  }

  void read_varied(const YAML::Node& key, const YAML::Node& node) {
    if (node["limits"]) {
      fail(node["limits"], fmt::format("factor '{}': limits need search: largest", key.Scalar()));
    }
    study_.factors.push_back(read_factor(key.Scalar(), node, file_));
  }

  void read_search(const YAML::Node& key, const YAML::Node& node) {
    if (study_.search) {
      fail(node["search"],
           fmt::format("factor '{}': only one factor can have search: largest, and '{}' has it",
                       key.Scalar(), study_.search->load.name));
    }
    study_.search = read_load_search(key.Scalar(), node, file_);
    names_.erase(key.Scalar());  // it is a response too
  }

  /// The searched factor is a response, and its limits are on others.
  void check_search() {
    if (!study_.search) return;
    const std::string& name = study_.search->load.name;
    const YAML::Node node = root_["factors"][name];
    const auto found = std::find_if(study_.responses.begin(), study_.responses.end(),
                                    [&](const Response& r) { return r.name == name; });
    if (found == study_.responses.end()) {
      fail(node, fmt::format("factor '{0}': what the search finds is a response: add it to "
                             "responses, as {0}: {{goal: maximize}}",
                             name));
    }
    if (!found->formula.empty() || !found->pattern.empty()) {
      fail(root_["responses"][name],
           fmt::format("response '{}' is what the search finds; it has no formula or pattern",
                       name));
    }
    if (found->unit.empty()) found->unit = study_.search->load.unit;
    std::vector<std::string> measured;
    for (const Response& response : study_.responses) {
      if (response.formula.empty() && response.name != name) measured.push_back(response.name);
    }
    for (const LoadLimit& limit : study_.search->limits) {
      if (std::find(measured.begin(), measured.end(), limit.response) != measured.end()) continue;
      fail(node["limits"][limit.response],
           fmt::format("factor '{}': limits: there is no measured response '{}'{}", name,
                       limit.response, did_you_mean_or_list(limit.response, measured)));
    }
  }

  void read_settings() {
    for (const auto& entry : root_["settings"]) {
      check_name(entry.first, "setting");
      const std::string& text = entry.second.Scalar();
      study_.settings.push_back({entry.first.Scalar(), text, parse_number(text)});
    }
  }

  void read_region() {
    std::vector<std::shared_ptr<const doe::Expression>> constraints;
    for (const YAML::Node& node : root_["constraints"]) {
      if (node.Scalar().find_first_of("<>=") == std::string::npos) {
        fail(node, fmt::format("constraints: '{:.60}' is not a comparison; use <=, <, >=, > or ==",
                               node.Scalar()));
      }
      constraints.push_back(std::make_shared<const doe::Expression>(
          expression(node, "constraints", study_.factor_names())));
    }
    std::vector<doe::Forbidden> forbidden;
    for (const YAML::Node& node : root_["forbidden"]) {
      forbidden.push_back(read_forbidden(node, study_.factors, file_));
    }
    study_.region = doe::Region(study_.factors, std::move(constraints), std::move(forbidden));
  }

  doe::Expression expression(const YAML::Node& node, const std::string& what,
                             const std::vector<std::string>& names) const {
    try {
      return doe::Expression(node.Scalar(), names);
    } catch (const doe::ExpressionError& error) {
      fail(node, fmt::format("{}: '{:.60}', character {}: {}", what, node.Scalar(), error.position,
                             error.what()));
    }
  }

  void read_model() {
    const YAML::Node node = root_["model"];
    try {
      if (node && node.IsSequence()) {
        study_.model = doe::Model::parse(texts(node), study_.factors);
        study_.model_name = "listed";
        if (study_.model.terms().empty()) fail(node, "model: the list is empty");
      } else {
        const bool named = node && node.Scalar() != "auto";
        study_.model_name = named ? node.Scalar() : default_model_;
        study_.model = doe::Model::named(study_.model_name, study_.factors);
      }
    } catch (const doe::ModelError& error) {
      fail(node && node.IsSequence() ? first_bad_term(node) : node, error.what());
    }
  }

  /// The first term that is invalid by itself; the whole list if there is none.
  YAML::Node first_bad_term(const YAML::Node& list) const {
    for (const YAML::Node& term : list) {
      try {
        doe::Model::parse({term.Scalar()}, study_.factors);
      } catch (const doe::ModelError&) {
        return term;
      }
    }
    return list;
  }

  void read_design_section() {
    if (const YAML::Node node = root_["design"]) {
      study_.design = read_design(node, file_);
      default_model_ = doe::find_design_type(study_.design.type).default_model;
      return;
    }
    const doe::ProposedDesign proposed = doe::propose_design(study_.factors, study_.region);
    default_model_ = proposed.model;
    const YAML::Node model = root_["model"];
    const bool is_its_model =
        !model ||
        (model.IsScalar() && (model.Scalar() == "auto" || model.Scalar() == proposed.model));
    if (is_its_model) {
      study_.design = {proposed.type, proposed.options, {}, proposed.next_better};
    } else {
      study_.design.type = "auto";
    }
  }

  void read_responses() {
    const YAML::Node responses = root_["responses"];
    if (responses.size() == 0) fail(responses, "responses: a study needs at least one response");
    for (const auto& entry : responses) {
      check_name(entry.first, "response");
      Response response =
          read_response(entry.first.Scalar(), entry.second, study_.fit, study_.factors, file_);
      if (entry.second["formula"]) check_formula(response, entry.second["formula"]);
      study_.responses.push_back(std::move(response));
    }
  }

  void check_formula(const Response& response, const YAML::Node& node) const {
    std::vector<std::string> names = study_.factor_names();
    for (const Response& earlier : study_.responses) names.push_back(earlier.name);
    for (const auto& entry : root_["responses"]) {
      const bool measured = entry.second.IsMap() && !entry.second["formula"];
      if (measured && std::find(names.begin(), names.end(), entry.first.Scalar()) == names.end()) {
        names.push_back(entry.first.Scalar());
      }
    }
    add_quantity_names(names);
    expression(node, fmt::format("response '{}': formula", response.name), names);
  }

  void read_run_section() {
    const YAML::Node node = root_["run"];
    study_.run = read_run(node, study_.factors, file_);
    if (study_.search && study_.run.processes) {
      fail(node["processes"],
           "run.processes: a program of several ranks cannot be searched for its "
           "largest load (search: largest)");
    }
    if (study_.run.telemetry_hz == 0 && uses_quantities(study_)) {
      fail(node["telemetry"],
           "run.telemetry: is 0, but a response or a formula uses what telemetry measures");
    }
  }

  const YAML::Node root_;
  const std::filesystem::path& file_;
  Study study_;
  std::string default_model_;                 ///< of the design
  std::map<std::string, std::string> names_;  ///< what each name stands for
};

}  // namespace

bool is_reserved_name(const std::string& name) {
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

const Response* Study::find_response(const std::string& response_name) const {
  const auto found = std::find_if(responses.begin(), responses.end(),
                                  [&](const Response& r) { return r.name == response_name; });
  return found == responses.end() ? nullptr : &*found;
}

std::string Study::location(const std::string& key) const {
  const auto found = locations.find(key);
  if (found != locations.end()) return fmt::format("{}:{}", file.string(), found->second);
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? file.string() : location(key.substr(0, dot));
}

std::vector<std::string> Study::factor_names() const {
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) names.push_back(factor.name);
  return names;
}

std::map<std::string, double> Study::capacities() const {
  std::map<std::string, double> capacities;
  for (const Response& response : responses) {
    if (response.capacity) capacities[response.name] = *response.capacity;
  }
  return capacities;
}

std::vector<std::string> formula_names(const Study& study) {
  std::vector<std::string> names = study.factor_names();
  for (const Response& response : study.responses) names.push_back(response.name);
  add_quantity_names(names);
  return names;
}

bool has_hard_to_change(const Study& study) {
  return std::any_of(study.factors.begin(), study.factors.end(),
                     [](const doe::Factor& factor) { return factor.hard_to_change; });
}

bool uses_quantities(const Study& study) {
  const std::vector<std::string> names = formula_names(study);
  const auto first = static_cast<int>(study.factors.size() + study.responses.size());
  return std::any_of(study.responses.begin(), study.responses.end(), [&](const Response& response) {
    if (response.formula.empty()) return find_quantity(response.name) != nullptr;
    const auto used = doe::Expression(response.formula, names).used();
    return std::any_of(used.begin(), used.end(), [&](int variable) { return variable >= first; });
  });
}

Study parse_study(const std::string& text, const std::filesystem::path& file) {
  return Reader(load_checked_yaml(text, file, study_schema()), file, text).read();
}

Study load_study(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    throw StudyError(fmt::format("{}: there is no such file{}", file.string(),
                                 did_you_mean_entry(file, Entry::kFile)));
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw StudyError(fmt::format("{}: is not a file; a study file is a YAML file", file.string()));
  }
  if (const auto size = std::filesystem::file_size(file, error); size > kMaxBytes) {
    throw StudyError(fmt::format("{}: {:.1f} MB is too large for a study file (at most 1 MB)",
                                 file.string(), static_cast<double>(size) / 1e6));
  }
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw StudyError(fmt::format("{}: cannot be read", file.string()));
  return parse_study(text, file);
}

}  // namespace doetune::study
