#include "cli/options/study_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/nearest_name.h"
#include "doe/response.h"
#include "study/argument_template.h"
#include "study/directory/original_file.h"
#include "study/error.h"
#include "study/file/yaml.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

using doe::GoalType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Number of values of a goal, in the order of doe::GoalType.
struct GoalValues {
  std::size_t minimum, maximum;
};
constexpr GoalValues kGoalValues[] = {{0, 2}, {0, 2}, {1, 1}, {2, 2}, {1, 1}, {1, 1}};

/// The options that modify an analysis.
constexpr std::array kAnalysisOptions{"model",          "transform", "surface",
                                      "surface-factor", "selection", "loss",
                                      "goal",           "hold",      "with-confirmation"};

/// The texts before and after the first '='.
std::pair<std::string, std::string> split(const std::string& text, const char* what,
                                          const char* example) {
  const auto position = text.find('=');
  if (position == std::string::npos) {
    throw UsageError(fmt::format("{}: expected {}, found '{}'", what, example, text));
  }
  return {text.substr(0, position), text.substr(position + 1)};
}

std::vector<double> numbers(const std::string& text, const std::string& option) {
  std::vector<double> values;
  std::size_t begin = 0;
  while (begin <= text.size() && !text.empty()) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto value = study::parse_number(text.substr(begin, end - begin));
    if (!value)
      throw UsageError(
          fmt::format("{}: expected numbers such as 1800,2500, found '{}'", option, text));
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

surfaces::Goal parse_goal(const std::string& text, const std::string& option) {
  const auto colon = text.find(':');
  const std::string word = text.substr(0, colon);
  const auto type = doe::choice_of<GoalType>(word);
  if (!type) {
    throw UsageError(fmt::format("{}: there is no goal '{}'{}", option, word,
                                 did_you_mean_or_list(word, doe::words_of<GoalType>())));
  }
  const auto [minimum, maximum] = kGoalValues[static_cast<std::size_t>(*type)];
  const std::vector<double> values =
      numbers(colon == std::string::npos ? "" : text.substr(colon + 1), option);
  if (values.size() < minimum || values.size() > maximum) {
    throw UsageError(fmt::format("{}: {} needs {}, for example {}", option, word,
                                 maximum == 1 ? "one number" : "two numbers",
                                 maximum == 1 ? word + ":100" : word + ":1800,2500"));
  }
  surfaces::Goal goal{.type = *type};
  if (goal.type == GoalType::kTarget) {
    goal.target = values[0];
  } else if (goal.type == GoalType::kAtMost) {
    goal.high = values[0];
  } else {
    goal.low = values.empty() ? -kInfinity : values[0];
    goal.high = values.size() < 2 ? kInfinity : values[1];
  }
  if (goal.low >= goal.high)
    throw UsageError(
        fmt::format("{}: low ({}) must be below high ({})", option, goal.low, goal.high));
  return goal;
}

void read_goal(const std::string& text, const study::Study& study,
               analysis::AnalysisOptions& options) {
  const auto [name, goal] = split(text, "--goal", "RESPONSE=GOAL, e.g. throughput=maximize");
  if (study.find_response(name) == nullptr) {
    std::vector<std::string> names;
    for (const study::Response& response : study.responses) names.push_back(response.name);
    throw UsageError(fmt::format("--goal: there is no response '{}'{}", name,
                                 did_you_mean_or_list(name, names)));
  }
  options.goals[name] = parse_goal(goal, "--goal " + name);
}

void read_hold(const std::string& text, const study::Study& study,
               analysis::AnalysisOptions& options) {
  const auto [name, setting] = split(text, "--hold", "FACTOR=SETTING, e.g. batch_size=8");
  const std::vector<std::string> names = study.factor_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    throw UsageError(
        fmt::format("--hold: there is no factor '{}'{}", name, did_you_mean_or_list(name, names)));
  }
  const doe::Factor& factor = study.factors[at - names.begin()];
  const auto value = factor.parse(setting);
  if (!value || !factor.allows(*value)) {
    throw UsageError("--hold: " + study::setting_error(factor, setting));
  }
  options.hold[name] = *value;
}

void read_transform(const Options& options, analysis::AnalysisOptions& analysis) {
  const std::string name = options.text("transform");
  analysis.transform = doe::choice_of<doe::TransformType>(name);
  if (analysis.transform) return;
  try {
    const surfaces::Transform power = surfaces::transform_from_name(name);
    analysis.transform = power.kind;
    analysis.power = power.lambda;
  } catch (const std::invalid_argument& error) {
    if (name.starts_with("power")) throw UsageError(fmt::format("--transform: {}", error.what()));
    std::vector<std::string> words = options.choices_of("transform")->words;
    words.emplace_back("power(0.3)");
    throw UsageError(
        fmt::format("--transform: '{}' is not known{}", name, did_you_mean_or_list(name, words)));
  }
}

/// A parametric model has one numeric factor, which the command line or the study must name if
/// there are several.
void check_parametric(const analysis::AnalysisOptions& analysis, const study::Study& study) {
  std::vector<std::string> numeric;
  for (const doe::Factor& factor : study.factors) {
    if (!factor.is_categorical()) numeric.push_back(factor.name);
  }
  const std::optional<std::string>& factor = analysis.parametric_factor;
  if (factor && std::find(numeric.begin(), numeric.end(), *factor) == numeric.end()) {
    throw UsageError(fmt::format("--surface-factor: '{}' is not numeric{}", *factor,
                                 did_you_mean_or_list(*factor, numeric)));
  }
  if (!analysis.surface || !doe::is_parametric(*analysis.surface) || factor) return;
  const bool named = std::all_of(study.responses.begin(), study.responses.end(),
                                 [](const auto& response) { return !response.fit.factor.empty(); });
  if (named || numeric.size() == 1) return;
  throw UsageError(fmt::format(
      "--surface {}: a parametric model has one numeric factor; name it with --surface-factor: {}",
      doe::word_of(*analysis.surface), fmt::join(numeric, ", ")));
}

}  // namespace

void add_directory(Options& options) { options.add_positional("DIR", 1); }

std::filesystem::path given_directory(const Options& options) {
  const std::vector<std::string> given = options.list("DIR");
  return study::find_directory(given.empty() ? std::nullopt
                                             : std::optional<std::filesystem::path>(given.front()));
}

study::StudyDirectory open_study(const Options& options) {
  return study::open_directory(given_directory(options));
}

study::StudyDirectory open_for_runs(const Options& options) {
  study::StudyDirectory directory = open_study(options);
  if (const auto changed = study::changed_runs(directory)) {
    throw UsageError(fmt::format("{}; `touch {}` goes on with the plan as it is", *changed,
                                 study::shell_quoted((directory.path / "study.yaml").string())));
  }
  return directory;
}

void add_fit_options(Options& options) {
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  options.add()("model", text("MODEL"),
                "fit linear, interactions, quadratic or cubic, or auto: whatever predicts best")(
      "transform", text("SCALE"),
      "fit on the scale of none, log, sqrt, inverse, logit, power(0.3) or box-cox")(
      "surface", text("KIND"),
      "fit a polynomial, auto (whatever predicts best), gaussian-process, or a parametric model "
      "such as amdahl")("surface-factor", text("FACTOR"), "the factor of a parametric model")(
      "selection", text("METHOD"), "select terms by AICc: backward, forward or best-subset")(
      "loss", text("LOSS"), "loss: squares, or huber or tukey, which are robust to outliers")(
      "with-confirmation", "fit the confirmation and baseline runs as well, and say what changes");
  std::vector<std::string> models = doe::Model::names();
  models.emplace_back("auto");
  options.choices("model", {models});
  options.choices("transform", {doe::words_of<doe::TransformType>(), true});
  options.choices("surface", {doe::words_of<doe::SurfaceType>()});
  options.choices("selection", {doe::words_of<doe::SelectionMethod>()});
  options.choices("loss", {doe::words_of<doe::Loss>()});
}

void add_goal_options(Options& options) {
  const auto list = [](const char* value) {
    return po::value<std::vector<std::string>>()->value_name(value);
  };
  options.add()("goal", list("RESPONSE=GOAL"),
                "a goal instead of the study's, e.g. throughput=within:1800,2500")(
      "hold", list("FACTOR=SETTING"), "a factor to keep fixed");
}

std::string checked_factor(const Options& options, const char* option, const study::Study& study) {
  if (!options.has(option)) return "";
  const std::string name = options.text(option);
  const std::vector<std::string> names = study.factor_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  throw UsageError(fmt::format("--{}: there is no factor '{}'{}", option, name,
                               did_you_mean_or_list(name, names)));
}

std::vector<std::string> goal_words() {
  std::vector<std::string> words = doe::words_of<GoalType>();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (kGoalValues[i].minimum > 0) words[i] += ':';
  }
  return words;
}

bool asks_otherwise(const Options& options) {
  const auto given = [&](const char* option) { return options.has(option); };
  return std::any_of(kAnalysisOptions.begin(), kAnalysisOptions.end(), given);
}

analysis::AnalysisOptions analysis_options(const Options& options, const study::Study& study) {
  analysis::AnalysisOptions analysis;
  if (options.has("model")) {
    const std::string model = options.text("model");
    if (model == "auto") {
      analysis.surface = doe::SurfaceType::kAuto;
    } else {
      analysis.model = model;
    }
  }
  if (options.has("surface")) {
    analysis.surface = doe::choice_of<doe::SurfaceType>(options.text("surface"));
  }
  analysis.selection = doe::choice_of<doe::SelectionMethod>(options.text("selection"));
  analysis.loss = doe::choice_of<doe::Loss>(options.text("loss"));
  if (options.has("surface-factor")) {
    analysis.parametric_factor = checked_factor(options, "surface-factor", study);
  }
  check_parametric(analysis, study);
  analysis.with_confirmation = options.has("with-confirmation");
  if (options.has("transform")) read_transform(options, analysis);
  for (const std::string& goal : options.list("goal")) read_goal(goal, study, analysis);
  for (const std::string& hold : options.list("hold")) read_hold(hold, study, analysis);
  return analysis;
}

analysis::Analysis of_the_plan(const Options& options, const study::StudyDirectory& directory) {
  analysis::AnalysisOptions alone = analysis_options(options, directory.study);
  alone.with_confirmation = false;
  return analysis::analyse(directory, alone);
}

}  // namespace doetune::cli
