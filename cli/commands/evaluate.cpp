#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "doe/evaluation/full_evaluation.h"
#include "study/bare_design.h"
#include "study/evaluation_json.h"
#include "study/file/yaml.h"

namespace doetune::cli {
namespace {

using analysis::short_number;

constexpr std::size_t kMaxAliasSets = 20;
constexpr std::size_t kMaxMapped = 30;  ///< maximum number of effects whose correlations fit a
                                        ///< terminal

struct EvaluatedDesign {
  study::BareDesign design;
  doe::FullEvaluation evaluation;
};

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} %", *value) : "-";
}

/// A G-efficiency that is not proven is shown with its proven lower bound.
std::string g_text(const doe::FullEvaluation& evaluation) {
  const std::string text = percent(evaluation.g_efficiency);
  if (!evaluation.max_variance || evaluation.max_variance->proven) return text;
  return fmt::format("{} (proven: at least {})", text, percent(evaluation.g_efficiency_least));
}

std::string error_freedom(const doe::FullEvaluation& evaluation) {
  return std::to_string(std::max(evaluation.basics.runs - evaluation.basics.terms, 0));
}

/// The quantile of the prediction variance over the region.
std::string quantile(const doe::FullEvaluation& evaluation, double fraction) {
  const std::vector<double>& quantiles = evaluation.variance_quantiles;
  if (quantiles.empty()) return "-";
  const double last = static_cast<double>(quantiles.size()) - 1;
  return short_number(quantiles[static_cast<std::size_t>(std::lround(fraction * last))]);
}

std::string largest_leverage(const doe::FullEvaluation& evaluation) {
  const std::vector<double>& leverages = evaluation.leverages;
  if (leverages.empty()) return "-";
  return short_number(*std::max_element(leverages.begin(), leverages.end()));
}

/// The names of the properties, and their values for each design.
void print_properties(const std::vector<EvaluatedDesign>& designs) {
  std::vector<std::string> header{"property"};
  for (const EvaluatedDesign& evaluated : designs) header.push_back(evaluated.design.name);
  TextTable table(header);
  const auto row = [&](const std::string& name, const auto& cell) {
    std::vector<std::string> cells{name};
    for (const EvaluatedDesign& evaluated : designs) cells.push_back(cell(evaluated.evaluation));
    table.add(cells);
  };
  using Full = doe::FullEvaluation;
  row("runs", [](const Full& e) { return std::to_string(e.basics.runs); });
  row("model coefficients", [](const Full& e) { return std::to_string(e.basics.terms); });
  row("degrees of freedom for error", error_freedom);
  row("D-efficiency", [](const Full& e) { return percent(e.basics.d_efficiency); });
  row("A-efficiency", [](const Full& e) { return percent(e.basics.a_efficiency); });
  row("G-efficiency, proven", g_text);
  row("average prediction variance (I)",
      [](const Full& e) { return number_or_dash(e.average_variance); });
  row("median prediction variance", [](const Full& e) { return quantile(e, 0.5); });
  row("90 % quantile of the prediction variance", [](const Full& e) { return quantile(e, 0.9); });
  row("largest prediction variance",
      [](const Full& e) { return e.max_variance ? short_number(e.max_variance->value) : "-"; });
  row("largest leverage of a run", largest_leverage);
  row("condition number", [](const Full& e) { return number_or_dash(e.basics.condition_number); });
  row("smallest distance between two runs",
      [](const Full& e) { return number_or_dash(e.min_distance); });
  row("centred L2 discrepancy", [](const Full& e) { return number_or_dash(e.centered_l2); });
  fmt::print("{}", table.str());
}

std::string vif_of(const doe::Evaluation& evaluation, const std::string& term) {
  for (const auto& [name, value] : evaluation.vif) {
    if (name == term) return short_number(value);
  }
  return "-";
}

void print_terms(const std::vector<EvaluatedDesign>& designs, double effect) {
  std::vector<std::string> header{"term"};
  for (const EvaluatedDesign& evaluated : designs) {
    const std::string suffix = designs.size() == 1 ? "" : ", " + evaluated.design.name;
    header.push_back("VIF" + suffix);
    header.push_back(fmt::format("power at {} sigma{}", short_number(effect), suffix));
  }
  TextTable table(header);
  for (const doe::TermPower& term : designs.front().evaluation.powers) {
    std::vector<std::string> cells{term.term};
    for (const EvaluatedDesign& evaluated : designs) {
      const auto& powers = evaluated.evaluation.powers;
      const auto found = std::find_if(powers.begin(), powers.end(),
                                      [&](const auto& other) { return other.term == term.term; });
      cells.push_back(vif_of(evaluated.evaluation.basics, term.term));
      cells.push_back(found == powers.end() || !found->power ? "-" : percent(100 * *found->power));
    }
    table.add(cells);
  }
  fmt::print("\n{}", table.str());
}

void print_aliases(const EvaluatedDesign& evaluated) {
  const doe::FullEvaluation& evaluation = evaluated.evaluation;
  if (!evaluation.basics.aliases.empty()) {
    fmt::print("\n{}: the runs do not determine {}\n", evaluated.design.name,
               fmt::join(evaluation.basics.aliases, ", "));
  }
  if (evaluation.alias_sets.empty()) return;
  fmt::print(
      "\n"
      "{}: aliased effects\n",
      evaluated.design.name);
  for (std::size_t i = 0; i < std::min(kMaxAliasSets, evaluation.alias_sets.size()); ++i) {
    fmt::print("  {}\n", evaluation.alias_sets[i]);
  }
  if (evaluation.alias_sets.size() > kMaxAliasSets) {
    fmt::print("  ... {} more with --json\n", evaluation.alias_sets.size() - kMaxAliasSets);
  }
}

/// Prints the correlations between effects: absolute values in tenths, below the diagonal.
void print_correlations(const EvaluatedDesign& evaluated) {
  const doe::NamedMatrix& map = evaluated.evaluation.correlation;
  if (map.rows.empty() || map.rows.size() > kMaxMapped) return;
  std::size_t width = 0;
  for (const std::string& name : map.rows) width = std::max(width, name.size());
  fmt::print(
      "\n"
      "{}: correlations between effects in tenths (. below 0.05, X is 1)\n",
      evaluated.design.name);
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    fmt::print("  {:<{}} ", map.rows[i], width);
    for (std::size_t j = 0; j <= i; ++j) {
      const long tenths = std::lround(10 * std::abs(map.values(i, j)));
      fmt::print(" {}", tenths == 0 ? "." : tenths >= 10 ? "X" : std::to_string(tenths));
    }
    fmt::print("\n");
  }
}

json::Format<EvaluatedDesign> evaluated_format() {
  return json::object<EvaluatedDesign>(
      {{"design", [](const EvaluatedDesign& evaluated) { return evaluated.design.name; }},
       {[](const EvaluatedDesign& evaluated) { return evaluated.evaluation.basics; },
        study::evaluation_format()},
       {"model",
        [](const EvaluatedDesign& evaluated) { return evaluated.design.model.term_names(); }},
       {&EvaluatedDesign::evaluation, study::full_evaluation_format()}});
}

using Comparison = std::vector<EvaluatedDesign>;

json::Format<Comparison> comparison_format() {
  const auto first = [](const Comparison& designs) { return designs[0]; };
  const auto second = [](const Comparison& designs) {
    return designs.size() > 1 ? &designs[1] : nullptr;
  };
  return json::document<Comparison>(
      {{first, evaluated_format()}, {"compare?", second, evaluated_format()}});
}

EvaluatedDesign evaluated_design(const std::filesystem::path& path, const Options& options,
                                 const doe::EvaluationOptions& settings) {
  std::optional<std::string> model;
  if (options.has("model")) model = options.text("model");
  EvaluatedDesign evaluated{study::load_bare_design(path, model), {}};
  evaluated.evaluation = doe::evaluate_fully(evaluated.design.model, evaluated.design.region,
                                             evaluated.design.coded, settings);
  return evaluated;
}

}  // namespace

json::Schema evaluate_schema() { return comparison_format().schema; }

void describe_evaluate(Options& options) {
  namespace po = boost::program_options;
  options.add()("model", po::value<std::string>()->value_name("MODEL"),
                "evaluate for this model: a name, or terms such as \"1, a, b, a*b\"")(
      "compare", po::value<std::string>()->value_name("PATH"),
      "a second design, to compare with the first")(
      "effect", po::value<std::string>()->value_name("X"),
      "coefficient to compute the power for, in standard deviations of the error (1)");
  options.choices("model", {doe::Model::names(), true});
  options.add_positional("PATH", 1);
}

int command_evaluate(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  doe::EvaluationOptions settings;
  const auto effect = study::parse_number(options.text("effect", "1"));
  if (!effect || *effect <= 0) {
    throw UsageError(
        fmt::format("--effect: expected a number above 0, found '{}'", options.text("effect")));
  }
  settings.effect = *effect;
  std::vector<EvaluatedDesign> designs{
      evaluated_design(options.required("PATH"), options, settings)};
  if (options.has("compare"))
    designs.push_back(evaluated_design(options.text("compare"), options, settings));
  if (options.json()) {
    fmt::print("{}", comparison_format().text(designs));
    return kDone;
  }
  print_properties(designs);
  print_terms(designs, settings.effect);
  for (const EvaluatedDesign& evaluated : designs) {
    print_correlations(evaluated);
    print_aliases(evaluated);
  }
  return kDone;
}

}  // namespace doetune::cli
