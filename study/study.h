// The parsed study file: factors, the program to run, responses and goals.
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

/// How the response surface of a response is fitted.
struct FitSettings {
  doe::SurfaceType surface = doe::SurfaceType::kPolynomial;
  std::string factor;  ///< parametric model: its numeric factor
  std::string by;  ///< parametric model: categorical factor with separate parameters for each level
  doe::SelectionMethod selection = doe::SelectionMethod::kNone;
  doe::Loss loss = doe::Loss::kSquares;
  doe::VarianceType variance = doe::VarianceType::kConstant;
  doe::BlockType block = doe::BlockType::kPlan;
};

/// A measured or derived quantity and its goal.
struct Response {
  std::string name;
  std::string unit;
  std::optional<doe::GoalType> goal;
  std::optional<double> low;   ///< lower limit of within and at_least; maximize: desirability 0 at
                               ///< or below it
  std::optional<double> high;  ///< upper limit of within and at_most; minimize: desirability 0 at
                               ///< or above it
  std::optional<double> target;  ///< value for the goal target
  double weight = 1;             ///< exponent of the desirability ramp
  double importance = 1;         ///< exponent of this response in the overall desirability
  double confidence = 0.9;       ///< probability with which a limit is to be met, where possible
  doe::LimitOf of = doe::LimitOf::kRun;
  /// Of a use of memory or another resource: runs that would need more are infeasible.
  std::optional<double> capacity = {};
  doe::TransformType transform = doe::TransformType::kNone;
  FitSettings fit;      ///< the study's `fit`, unless the response overrides it
  std::string formula;  ///< expression in other responses; empty if measured
  std::string pattern;  ///< regular expression that finds the value in the output; may be empty
};

struct DesignSettings {
  std::string type = "fccd";  ///< as proposed (doe::propose_design) if the study names none
  doe::DesignOptions options;
  std::filesystem::path table;   ///< type `table`: path of the CSV file, relative to the study file
  std::string next_better = {};  ///< of a proposed design; empty if the study names a design
};

/// A limit on a response that a load has to keep.
struct LoadLimit {
  std::string response;  ///< a measured one
  bool at_most = true;   ///< else: at least
  double value = 0;
};

/// A factor with `search: largest`: in each run the largest setting that meets the limits is
/// searched. The design does not vary it; it is the response of its name.
struct LoadSearch {
  doe::Factor load;  ///< numeric, low > 0
  std::vector<LoadLimit> limits;
};

/// Fixed for all runs: numbers are passed as numbers, anything else as a string.
struct Setting {
  std::string name;
  std::string text;              ///< as written
  std::optional<double> number;  ///< if the text is one
};

struct Study {
  std::filesystem::path file;  ///< path as given by the user
  std::string text;            ///< the file's content
  std::string name;
  std::uint64_t seed = 1;
  std::string workload;              ///< a bundled workload; empty if `command` is given
  std::vector<std::string> command;  ///< argument vector with {factor} placeholders
  std::vector<Setting> settings;
  std::vector<doe::Factor> factors;
  std::optional<LoadSearch> search;
  doe::Region region;
  doe::Model model;
  std::string model_name;  ///< "quadratic", ..., or "listed"
  DesignSettings design;
  FitSettings fit;
  std::vector<Response> responses;
  RunSettings run;
  double feasibility = 0.95;  ///< the minimum probability of completing of what is recommended
  std::map<std::string, doe::InfeasibleWhen> infeasible_when;  ///< by numeric factor
  int confirmation_runs = 5;
  std::map<std::string, std::string> locations;  ///< "line:column" of keys; see location()

  /// Position of a key in the file, "file:line:column": "workload", "command.2" (the argument),
  /// "factors.NAME", "settings.NAME", "responses.NAME", "run.launcher". The file alone if the key
  /// is absent.
  std::string location(const std::string& key) const;

  /// Whether doetune can make the runs; if not, the user makes them (`doetune next`, `tell`).
  bool has_program() const { return !command.empty() || !workload.empty(); }

  const Response* find_response(const std::string& name) const;
  std::vector<std::string> factor_names() const;
  std::map<std::string, double> capacities() const;  ///< of the responses that have one
};

/// Whether any factor is expensive to change, so that runs are grouped into whole plots.
bool has_hard_to_change(const Study& study);

/// Whether a name is a column of plan.csv or results.csv and therefore not available to the user.
bool is_reserved_name(const std::string& name);

/// The names that a formula may use: factors, responses, and telemetry quantities not hidden by
/// them.
std::vector<std::string> formula_names(const Study& study);

/// Whether a response has the name of a telemetry quantity or a formula uses one.
bool uses_quantities(const Study& study);

/// Reads and checks a study file (yaml-cpp). Throws StudyError for the first error. Rejects files
/// over 1 MiB, binary files and files nested deeper than yaml-cpp allows.
Study load_study(const std::filesystem::path& file);

/// Like load_study, from text; `file` is named in messages and anchors relative paths.
Study parse_study(const std::string& text, const std::filesystem::path& file);

}  // namespace doetune::study
