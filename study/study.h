// The study file as a typed value: what to vary, what to run, what is wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doe/design.h"
#include "doe/factor.h"
#include "doe/model.h"
#include "doe/region.h"
#include "doe/response.h"
#include "study/error.h"
#include "study/run_settings.h"

namespace doetune::study {

/// How the surface of a response is fitted.
struct FitSettings {
  doe::SurfaceType surface = doe::SurfaceType::kPolynomial;
  std::string factor;  ///< of a parametric model: the numeric factor it is in
  std::string by;      ///< of a parametric model: a factor whose levels have their own
  doe::SelectionMethod selection = doe::SelectionMethod::kNone;
  doe::Loss loss = doe::Loss::kSquares;
  doe::VarianceType variance = doe::VarianceType::kConstant;
  doe::BlockType block = doe::BlockType::kPlan;
};

/// A measured or derived quantity, and what is wanted of it.
struct Response {
  std::string name;
  std::string unit;
  std::optional<doe::GoalType> goal;
  std::optional<double> low;     ///< within, at_least; for maximize: worthless at or below
  std::optional<double> high;    ///< within, at_most; for minimize: worthless at or above
  std::optional<double> target;  ///< target
  double weight = 1;             ///< exponent of the desirability ramp
  double importance = 1;         ///< exponent of this response in the overall desirability
  doe::TransformType transform = doe::TransformType::kNone;
  FitSettings fit;      ///< the study's, where the response does not say otherwise
  std::string formula;  ///< derived from other responses; empty where measured
  std::string pattern;  ///< regular expression that reads it from the output; may be empty
};

struct DesignSettings {
  std::string type = "fccd";
  doe::DesignOptions options;
  std::filesystem::path table;  ///< type `table`: the CSV file, relative to the study file
};

/// Fixed for every run: numbers stay numbers, words are strings.
struct Setting {
  std::string name;
  std::string text;              ///< as written
  std::optional<double> number;  ///< where the text is one
};

struct Study {
  std::filesystem::path file;  ///< as the user named it
  std::string text;            ///< the file's content
  std::string name;
  std::uint64_t seed = 1;
  std::string workload;              ///< a bundled workload; empty where `command` is given
  std::vector<std::string> command;  ///< argument vector with {factor} placeholders
  std::vector<Setting> settings;
  std::vector<doe::Factor> factors;
  doe::Region region;
  doe::Model model;
  std::string model_name;  ///< "quadratic", ..., or "listed"
  DesignSettings design;
  FitSettings fit;
  std::vector<Response> responses;
  RunSettings run;
  int confirmation_runs = 5;
  std::map<std::string, std::string> locations;  ///< "line:column" of keys; see location()

  /// Where the file speaks of a key, "file:line:column": "workload", "command.2" (the argument),
  /// "factors.NAME", "settings.NAME", "responses.NAME", "run.launcher". Else the file alone.
  std::string location(const std::string& key) const;

  const Response* find_response(const std::string& name) const;
  std::vector<std::string> factor_names() const;
};

/// Whether a name is a column of plan.csv or results.csv, so that nothing can be named after it.
bool is_reserved_name(const std::string& name);

/// What a formula may use: factors, responses, and quantities that are none of these.
std::vector<std::string> formula_names(const Study& study);

/// Whether a response is a quantity of telemetry by its name, or a formula uses one.
bool uses_quantities(const Study& study);

/// Reads and checks a study file (yaml-cpp). Throws StudyError for the first mistake.
/// Files over 1 MiB, binary files and files nested deeper than yaml-cpp allows are refused.
Study load_study(const std::filesystem::path& file);

/// The same from text; `file` names it in messages and anchors relative paths.
Study parse_study(const std::string& text, const std::filesystem::path& file);

}  // namespace doetune::study
