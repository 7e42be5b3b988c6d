// The study file as a typed value: what to vary, what to run, what is wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "doe/design.h"
#include "doe/factor.h"
#include "doe/model.h"
#include "doe/region.h"
#include "study/run_settings.h"

namespace doetune::study {

/// A mistake in a file the user wrote. The message begins with file:line:column and says what was
/// expected. Exit code 3.
struct StudyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class GoalKind { kNone, kMaximize, kMinimize, kTarget, kWithin, kAtMost, kAtLeast };

/// How the surface of a response is fitted. Names are those of `surfaces/`.
struct FitSettings {
  std::string surface = "polynomial";  ///< polynomial, auto, gaussian-process or a law
  std::string factor;                  ///< of a law: the numeric factor it is in
  std::string by;                      ///< of a law: a factor whose levels have their own
  std::string selection = "none";      ///< of terms: none, backward, forward, best-subset
  std::string loss = "squares";        ///< squares, huber, tukey
  std::string variance = "constant";   ///< of runs: constant, or modelled from replicates
  std::string block = "plan";  ///< what shifts runs together: the plan's blocks, host, gpu, day
};

/// A measured or derived quantity, and what is wanted of it.
struct Response {
  std::string name;
  std::string unit;
  GoalKind goal = GoalKind::kNone;
  std::optional<double> low;       ///< within, at_least; for maximize: worthless at or below
  std::optional<double> high;      ///< within, at_most; for minimize: worthless at or above
  std::optional<double> target;    ///< target
  double weight = 1;               ///< exponent of the desirability ramp
  double importance = 1;           ///< exponent of this response in the overall desirability
  std::string transform = "none";  ///< the scale of the fit, such as log
  FitSettings fit;                 ///< the study's, where the response does not say otherwise
  std::string formula;             ///< derived from other responses; empty where measured
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
  std::map<std::string, std::string> places;  ///< "line:column" of keys; see place()

  /// Where the file speaks of a key, "file:line:column": "workload", "command.2" (the argument),
  /// "factors.NAME", "settings.NAME", "responses.NAME", "run.launcher". Else the file alone.
  std::string place(const std::string& key) const;

  const Response* find_response(const std::string& name) const;
  std::vector<std::string> factor_names() const;
};

/// Whether a name is a column of plan.csv or results.csv, so that nothing can be named after it.
bool is_reserved_name(const std::string& name);

/// Reads and checks a study file (yaml-cpp). Throws StudyError for the first mistake.
/// Files over 1 MiB, binary files and files nested deeper than yaml-cpp allows are refused.
Study load_study(const std::filesystem::path& file);

/// The same from text; `file` names it in messages and anchors relative paths.
Study parse_study(const std::string& text, const std::filesystem::path& file);

}  // namespace doetune::study
