// The Python module doetune._core: studies in their directories, and searches without one. The
// package around it turns documents and rows into data frames.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "analysis/confirmation.h"
#include "analysis/verdict.h"
#include "base/version.h"
#include "doe/design.h"
#include "reports/documents/write_report.h"
#include "reports/json/analysis_json.h"
#include "reports/page/section.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"
#include "study/directory/results.h"
#include "study/directory/search_state.h"
#include "study/directory/tell.h"
#include "tuning/answer.h"
#include "tuning/search.h"
#include "tuning/start.h"
#include "tuning/study_search.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace doetune {
namespace {

using Path = std::filesystem::path;

nb::object setting_value(const doe::Factor& factor, double natural) {
  if (factor.is_categorical()) return nb::str(factor.format(natural).c_str());
  const bool whole = std::trunc(natural) == natural && std::abs(natural) < 1e15;
  const bool integer = factor.kind == doe::FactorKind::kInteger ||
                       (factor.kind == doe::FactorKind::kDiscrete && whole);
  if (integer) return nb::int_(static_cast<long long>(natural));
  return nb::float_(natural);
}

std::string text_of(nb::handle value) { return nb::str(value).c_str(); }

nb::dict settings_dict(const std::vector<doe::Factor>& factors, const tuning::Settings& settings) {
  nb::dict values;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    values[factors[f].name.c_str()] = setting_value(factors[f], settings[f]);
  }
  return values;
}

/// Throws std::invalid_argument for a missing or an unknown factor, and a value that is not one of
/// its settings.
tuning::Settings settings_of(const std::vector<doe::Factor>& factors, const nb::dict& values) {
  tuning::Settings settings;
  for (const auto& [name, value] : values) {
    const std::string wanted = text_of(name);
    const bool known = std::any_of(factors.begin(), factors.end(),
                                   [&](const auto& factor) { return factor.name == wanted; });
    if (!known) throw std::invalid_argument("there is no factor '" + wanted + "'");
  }
  for (const doe::Factor& factor : factors) {
    if (!values.contains(factor.name.c_str())) {
      throw std::invalid_argument("there is no value of the factor '" + factor.name + "'");
    }
    const std::string text = text_of(nb::object(values[factor.name.c_str()]));
    const auto natural = factor.parse(text);
    if (!natural) throw std::invalid_argument(study::setting_error(factor, text));
    settings.push_back(*natural);
  }
  return settings;
}

nb::dict proposal_dict(const std::vector<doe::Factor>& factors, const tuning::Proposal& proposal) {
  nb::dict values;
  values["settings"] = settings_dict(factors, proposal.settings);
  values["expected_gain"] = nb::cast(proposal.gain);
  values["completes"] = proposal.completes;
  values["meets_limits"] = proposal.meets_limits;
  return values;
}

nb::list next_list(const std::vector<doe::Factor>& factors,
                   const std::vector<tuning::NextRun>& next) {
  nb::list rows;
  for (const tuning::NextRun& run : next) {
    nb::dict row;
    row["run"] = run.run.run;
    row["point_type"] = std::string(doe::point_type_name(run.run.type));
    row["settings"] = settings_dict(factors, run.run.settings);
    row["expected_gain"] = nb::cast(run.proposal ? run.proposal->gain : std::nullopt);
    row["completes"] =
        nb::cast(run.proposal ? std::optional(run.proposal->completes) : std::nullopt);
    rows.append(row);
  }
  return rows;
}

nb::list factor_list(const std::vector<doe::Factor>& factors) {
  nb::list rows;
  for (const doe::Factor& factor : factors) {
    nb::dict row;
    row["name"] = factor.name;
    row["unit"] = factor.unit;
    nb::list levels;
    for (const std::string& level : factor.level_names) levels.append(level);
    for (const double level : factor.levels) levels.append(setting_value(factor, level));
    row["levels"] = nb::len(levels) > 0 ? nb::object(levels) : nb::none();
    if (!factor.is_categorical()) {
      row["low"] = setting_value(factor, factor.low);
      row["high"] = setting_value(factor, factor.high);
    }
    rows.append(row);
  }
  return rows;
}

/// An analysis with the directory that it is about.
class Fitted {
 public:
  Fitted(const Path& path, bool with_optimum, const std::optional<std::string>& model,
         const std::optional<std::string>& surface, const nb::dict& hold)
      : directory_(std::make_unique<study::StudyDirectory>(study::open_directory(path))) {
    analysis::AnalysisOptions options;
    options.model = model;
    if (surface) {
      options.surface = doe::choice_of<doe::SurfaceType>(*surface);
      if (!options.surface) {
        throw std::invalid_argument(fmt::format("there is no surface '{}'; expected {}", *surface,
                                                fmt::join(doe::kWords<doe::SurfaceType>, ", ")));
      }
    }
    for (const auto& [name, value] : hold) hold_factor(options, text_of(name), text_of(value));
    const nb::gil_scoped_release others_run;
    analysis_ = with_optimum ? analysis::analyse(*directory_, options)
                             : analysis::fit_runs(*directory_, options);
  }

  std::string fit_json() const { return reports::fit_json(analysis_); }
  std::string optimum_json() const { return reports::optimum_json(analysis_); }
  std::vector<std::string> warnings() const { return analysis_.warnings; }

  std::pair<std::string, std::string> verdict() const {
    const analysis::Verdict verdict = analysis::verdict(analysis_);
    return {std::string(analysis::status_name(verdict.status)), verdict.headline};
  }

  std::optional<nb::dict> best() const {
    if (!analysis_.optimum) return std::nullopt;
    return settings_dict(factors(), analysis_.optimum->best.settings);
  }

  /// Of each response with a surface: one row for each of the settings, with the predicted
  /// response, the ends of the interval of its mean and of the next run (NaN if there are none).
  std::map<std::string, Eigen::MatrixXd> predict(const nb::list& rows) const {
    Eigen::MatrixXd coded(static_cast<Eigen::Index>(nb::len(rows)),
                          static_cast<Eigen::Index>(factors().size()));
    Eigen::Index row = 0;
    for (const nb::handle settings : rows) {
      coded.row(row++) =
          doe::coded_point(factors(), settings_of(factors(), nb::cast<nb::dict>(settings)))
              .transpose();
    }
    std::map<std::string, Eigen::MatrixXd> predicted;
    for (const analysis::ResponseAnalysis& response : analysis_.responses) {
      if (!response.surface()) continue;
      predicted[response.response.name] = table_of(response.surface()->predictions(coded));
    }
    if (analysis_.feasibility) predicted[""] = analysis_.feasibility->probabilities(coded);
    return predicted;
  }

  /// Names, titles and SVG of the report's figures.
  std::vector<std::vector<std::string>> figures() const {
    std::vector<std::vector<std::string>> drawn;
    const reports::Page page = reports::make_page(analysis_);
    for (const reports::Figure* figure : reports::figures_of(page)) {
      drawn.push_back({figure->name, figure->title, figure->svg});
    }
    return drawn;
  }

  Path report() const { return reports::write_report(analysis_).pages.front(); }

 private:
  const std::vector<doe::Factor>& factors() const { return directory_->study.factors; }

  void hold_factor(analysis::AnalysisOptions& options, const std::string& name,
                   const std::string& text) const {
    for (const doe::Factor& factor : factors()) {
      if (factor.name != name) continue;
      const auto natural = factor.parse(text);
      if (!natural || !factor.allows(*natural)) {
        throw std::invalid_argument(study::setting_error(factor, text));
      }
      options.hold[name] = *natural;
      return;
    }
    throw std::invalid_argument("the study has no factor '" + name + "'");
  }

  static Eigen::MatrixXd table_of(const std::vector<surfaces::Prediction>& predictions) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    Eigen::MatrixXd table(static_cast<Eigen::Index>(predictions.size()), 5);
    for (Eigen::Index row = 0; row < table.rows(); ++row) {
      const surfaces::Prediction& predicted = predictions[static_cast<std::size_t>(row)];
      const surfaces::Interval none{kNone, kNone};
      const auto mean = predicted.confidence_interval().value_or(none);
      const auto next = predicted.prediction_interval().value_or(none);
      table.row(row) << predicted.response(), mean.low, mean.high, next.low, next.high;
    }
    return table;
  }

  std::unique_ptr<study::StudyDirectory> directory_;  ///< where the analysis points to
  analysis::Analysis analysis_;
};

/// A study directory. Every call reads it anew, so that other processes may work with it as well.
class Study {
 public:
  explicit Study(Path path) : path_(std::filesystem::absolute(path)) {
    const study::StudyDirectory directory = open();
    name_ = directory.study.name;
    factors_ = directory.study.factors;
  }

  static Study planned(const Path& path, const std::string& text, const std::optional<Path>& file) {
    const study::Study study = study_of(text, file);
    study::create_directory(path, study, study::make_plan(study), false);
    return Study(path);
  }

  static Study searched(const Path& path, const std::string& text, const std::optional<Path>& file,
                        std::optional<int> budget, std::optional<double> tolerance) {
    const nb::gil_scoped_release others_run;
    const study::Study study = study_of(text, file);
    tuning::begin_search(path, study, file, [&] {
      return tuning::create_search(path, study, budget.value_or(tuning::default_budget(study)));
    });
    Study searched(path);
    searched.budget_ = budget;
    searched.tolerance_ = tolerance;
    return searched;
  }

  const Path& path() const { return path_; }
  const std::string& name() const { return name_; }
  nb::list factors() const { return factor_list(factors_); }

  std::vector<std::string> responses(bool derived_too) const {
    std::vector<std::string> names;
    for (const study::Response& response : open().study.responses) {
      if (derived_too || response.formula.empty()) names.push_back(response.name);
    }
    return names;
  }

  /// The run sheet, with what is known of each run.
  nb::list runs() const {
    const study::StudyDirectory directory = open();
    const auto records = study::final_records(study::read_journal(directory).records);
    nb::list rows;
    for (const study::PlannedRun& run : directory.plan.runs) {
      nb::dict row;
      row["run"] = run.run;
      row["point_type"] = std::string(doe::point_type_name(run.type));
      row["block"] = run.block;
      row["settings"] = settings_dict(factors_, run.settings);
      const auto found = records.find(run.run);
      if (found != records.end()) {
        study::RunRecord record = found->second;
        if (record.status == study::RunStatus::kCompleted) {
          study::add_derived_responses(directory.study, run, record);
        }
        row["status"] = std::string(study::run_status_name(record.status));
        row["reason"] = record.reason;
        row["responses"] = nb::cast(record.responses);
      }
      rows.append(row);
    }
    return rows;
  }

  nb::list next(int batch) {
    tuning::NextRuns next;
    {
      const nb::gil_scoped_release others_run;
      next = study::when_free([&] {
        study::StudyDirectory directory = open();
        study::SearchState given = study::read_search_state(directory.path);
        given.budget = budget_.value_or(given.budget);
        given.tolerance = tolerance_.value_or(given.tolerance);
        const auto limits = tuning::search_limits(directory.study, given);
        return tuning::next_of_search(directory, limits, batch);
      });
    }
    gave_up_ = next.gave_up ? next.end : "";
    return next_list(factors_, next.runs);
  }

  /// Why the search ended; empty while it goes on.
  std::string end() const {
    return gave_up_.empty() ? study::read_search_state(path_).end : gave_up_;
  }

  bool tell(int run, const std::map<std::string, double>& responses, const std::string& status,
            const std::string& reason, bool correct) const {
    const nb::gil_scoped_release others_run;
    const auto ended = study::run_status_from_name(status);
    return study::when_free([&] {
      return study::tell_run(open(), {run, ended.value(), reason, responses, {}, correct});
    });
  }

  /// Why the run is ended early; empty if it goes on.
  std::optional<std::string> tell_step(int run, double step,
                                       const std::map<std::string, double>& responses) const {
    const nb::gil_scoped_release others_run;
    const auto told = study::when_free([&] {
      return tuning::tell_progress(open(), run, {step, responses});
    });
    return told ? std::optional(told->end.reason) : std::nullopt;
  }

  /// Appends runs that confirm the optimum, and returns the numbers of all that do.
  std::vector<int> confirm(int runs) const {
    const nb::gil_scoped_release others_run;
    return study::when_free([&] {
      study::StudyDirectory directory = open();
      return tuning::plan_confirmation(directory, runs);
    });
  }

 private:
  /// Without a file, messages name study.yaml in the current folder.
  static study::Study study_of(const std::string& text, const std::optional<Path>& file) {
    return study::parse_study(text, file.value_or(std::filesystem::absolute("study.yaml")));
  }

  study::StudyDirectory open() const { return study::open_directory(path_); }

  Path path_;
  std::string gave_up_ = {};         ///< why next() gave no runs after failures
  std::optional<int> budget_;        ///< if not given, as before
  std::optional<double> tolerance_;  ///< the same
  std::string name_;
  std::vector<doe::Factor> factors_;
};

/// A search of which nothing is on disk: its user keeps the runs.
class Problem {
 public:
  explicit Problem(const std::string& text)
      : problem_(tuning::problem_of(study::parse_study(text, "study.yaml"))) {}

  void add(const nb::dict& settings, bool completed, const std::map<std::string, double>& values) {
    for (const auto& [name, value] : values) {
      if (!std::isfinite(value)) throw std::invalid_argument(name + ": expected a finite number");
    }
    observations_.push_back({settings_of(problem_.factors, settings), completed, values});
  }

  nb::list start(std::optional<int> budget) const {
    const int runs = tuning::start_size(problem_, budget.value_or(kUnlimited));
    nb::list rows;
    for (const tuning::Settings& settings : tuning::start(problem_, runs)) {
      rows.append(settings_dict(problem_.factors, settings));
    }
    return rows;
  }

  nb::list next(int batch, const nb::list& under_way) const {
    std::vector<tuning::Settings> others;
    for (const nb::handle settings : under_way) {
      others.push_back(settings_of(problem_.factors, nb::cast<nb::dict>(settings)));
    }
    std::vector<tuning::Proposal> proposals;
    {
      const nb::gil_scoped_release others_run;
      proposals = tuning::next_runs(problem_, observations_, batch, others);
    }
    nb::list rows;
    for (const tuning::Proposal& proposal : proposals) {
      rows.append(proposal_dict(problem_.factors, proposal));
    }
    return rows;
  }

  /// The settings to use; empty if the runs do not support models.
  std::optional<nb::dict> answer() const {
    const auto optimum = tuning::answer(problem_, observations_);
    if (!optimum) return std::nullopt;
    return settings_dict(problem_.factors, optimum->best.settings);
  }

 private:
  static constexpr int kUnlimited = 1'000'000;

  tuning::Problem problem_;
  std::vector<tuning::Observation> observations_;
};

}  // namespace
}  // namespace doetune

// NOLINTNEXTLINE: what the macro defines
NB_MODULE(_core, module) {
  using namespace doetune;
  module.attr("__version__") = std::string(version());
  nb::exception<study::StudyError>(module, "StudyError", PyExc_ValueError);
  nb::exception<study::DirectoryError>(module, "DirectoryError", PyExc_OSError);
  nb::exception<doe::DesignError>(module, "DesignError", PyExc_ValueError);

  nb::class_<Study>(module, "Study")
      .def(nb::init<Path>(), "path"_a)
      .def_static("planned", &Study::planned, "path"_a, "text"_a, "file"_a)
      .def_static("searched", &Study::searched, "path"_a, "text"_a, "file"_a, "budget"_a,
                  "tolerance"_a)
      .def_prop_ro("path", &Study::path)
      .def_prop_ro("name", &Study::name)
      .def_prop_ro("factors", &Study::factors)
      .def("responses", &Study::responses, "derived_too"_a)
      .def("runs", &Study::runs)
      .def("next", &Study::next, "batch"_a)
      .def_prop_ro("end", &Study::end)
      .def("tell", &Study::tell, "run"_a, "responses"_a, "status"_a, "reason"_a, "correct"_a)
      .def("tell_step", &Study::tell_step, "run"_a, "step"_a, "responses"_a)
      .def("confirm", &Study::confirm, "runs"_a);
  nb::class_<Fitted>(module, "Fitted")
      .def(nb::init<Path, bool, std::optional<std::string>, std::optional<std::string>, nb::dict>(),
           "path"_a, "with_optimum"_a, "model"_a = nb::none(), "surface"_a = nb::none(),
           "hold"_a = nb::dict())
      .def("fit_json", &Fitted::fit_json)
      .def("optimum_json", &Fitted::optimum_json)
      .def_prop_ro("warnings", &Fitted::warnings)
      .def_prop_ro("verdict", &Fitted::verdict)
      .def_prop_ro("best", &Fitted::best)
      .def("predict", &Fitted::predict, "rows"_a)
      .def("figures", &Fitted::figures)
      .def("report", &Fitted::report);
  nb::class_<Problem>(module, "Problem")
      .def(nb::init<std::string>(), "text"_a)
      .def("add", &Problem::add, "settings"_a, "completed"_a, "values"_a)
      .def("start", &Problem::start, "budget"_a = nb::none())
      .def("next", &Problem::next, "batch"_a, "under_way"_a)
      .def("answer", &Problem::answer);
}
