// Designed experiments: the points to run, the request for a design and the design types.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "doe/factor.h"
#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

enum class PointType {
  kFactorial,
  kAxial,
  kCenter,
  kTable,
  kConfirmation,
  kScreening,
  kOptimal,
  kSpaceFilling,
  kBaseline,
  kProposed  ///< by a search, from the runs before it
};

std::string_view point_type_name(PointType type);
PointType point_type_from_name(std::string_view name);  ///< throws std::invalid_argument

/// One run of a design. `coded` has one entry per factor (see Factor). Every point is usable:
/// Factor::snap leaves its natural settings unchanged.
struct DesignPoint {
  Eigen::VectorXd coded;
  PointType type = PointType::kFactorial;
  int block = 1;       ///< from 1
  int replicate = 1;   ///< from 1: index among the runs at these settings
  int whole_plot = 0;  ///< from 1: runs between two changes of a hard-to-change factor; 0: none
};

/// Outcome of the search for a design, to assess whether more effort would help.
struct SearchReport {
  std::string criterion;        ///< name and unit of `best`: "D-efficiency, percent"
  double best = 0;              ///< value of the design that was found
  std::optional<double> bound;  ///< proven limit for any design; empty if none is known
  int starts = 0;               ///< searches from a random start
  int best_found = 0;           ///< number of starts that reached the best (to 1e-6 relative)
  double seconds = 0;
  bool stopped_by_time = false;  ///< the time limit ended the search before all starts
};

/// Points in standard order, and the builder's notes.
struct Design {
  std::vector<DesignPoint> points;
  std::vector<std::string> notes;
  std::optional<SearchReport> search;  ///< only for designs found by search

  Eigen::MatrixXd coded() const;  ///< n x k
};

/// Weights of the logarithms of a design's efficiencies in a compound criterion.
struct CriterionWeights {
  double d = 0;  ///< |M|^(1/p)
  double i = 0;  ///< 1 / average prediction variance
  double a = 0;  ///< 1 / sum of coefficient variances
};

/// The design options of a study file. Each type accepts the options that it lists
/// (DesignType::options); an omitted option has the type's default.
struct DesignOptions {
  std::optional<int> runs;              ///< total, including centre runs and replicates
  std::optional<int> center_runs;       ///< at the centre of the numeric factors
  int replicates = 1;                   ///< how often the whole design is run
  int blocks = 1;                       ///< groups run one after the other
  std::optional<int> levels;            ///< of a continuous or integer factor
  std::optional<int> resolution;        ///< of a fraction, at least
  std::vector<std::string> generators;  ///< of a fraction: "d = a*b*c"
  std::string alpha;                    ///< ccd: face, rotatable, orthogonal, spherical, a number
  std::string criterion;                ///< space-filling: maximin, centered-l2, maxpro
  std::optional<int> starts;            ///< of a search; empty: until more are unlikely to help
  std::optional<double> time_limit_s;   ///< of a search
  std::optional<CriterionWeights> weights;  ///< compound-optimal; empty: equal d and i
  std::vector<std::string> possible;        ///< potential terms (Bayesian D)
  std::optional<int> whole_plots;       ///< groups of runs with the same hard-to-change settings
  std::optional<double> budget_s;       ///< total time of all runs and changes
  std::optional<double> run_cost_s;     ///< of one run
  std::optional<double> change_cost_s;  ///< of setting up one whole plot, including the first
};

/// Everything a design builder needs.
struct DesignRequest {
  std::vector<Factor> factors;
  Region region;
  Model model;  ///< the model the design must determine
  DesignOptions options;
  std::uint64_t seed = 0;
  int threads = 0;                        ///< of a search; 0: all. The design does not depend on it
  Eigen::MatrixXd existing;               ///< m x k coded existing runs; may be empty
  std::vector<int> existing_whole_plots;  ///< of each; 0 or empty: none
  std::vector<std::vector<double>> table;  ///< type `table`: the runs, natural units
  std::vector<int> table_whole_plots;      ///< of each; 0 or empty: none
};

/// Thrown if the design cannot be built; the message gives the reason and an alternative.
struct DesignError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A family of designs; to add one: docs/architecture.md#adding-to-it.
struct DesignType {
  std::string_view name;     ///< as written in the study file
  std::string_view summary;  ///< purpose
  std::string_view source;   ///< publication of the construction
  Design (*build)(const DesignRequest&);
  std::string_view options;                      ///< options it accepts: "center_runs blocks"
  std::string_view default_model = "quadratic";  ///< a name of Model::names()
  bool needs_model = true;                       ///< whether the runs must determine the model
  bool as_given = false;  ///< user-supplied runs: neither snapped nor dropped
};

std::span<const DesignType> design_types();
std::vector<std::string> design_type_names();

/// Throws DesignError for an unknown type, suggesting the nearest.
const DesignType& find_design_type(std::string_view name);

/// The options a type accepts, as written in study files.
std::vector<std::string> option_names(const DesignType& type);

/// Builds a design in standard order, with every point snapped to usable settings and points
/// outside the region dropped (a note gives their number), unless the type takes its points as
/// given. Throws DesignError for an unknown type (suggesting the nearest), a request the type
/// cannot satisfy, and a design with no runs or over 1,000,000.
Design build_design(std::string_view type, const DesignRequest& request);

/// Throws DesignError if a model matrix of this size would exceed typical memory or take minutes to
/// factorise.
void check_size(double runs, double columns);

/// Builders of the types, called through build_design.
Design automatic_design(const DesignRequest& request);
Design box_behnken(const DesignRequest& request);
Design central_composite(const DesignRequest& request);
Design definitive_screening(const DesignRequest& request);
Design face_centred_ccd(const DesignRequest& request);
Design fractional_factorial(const DesignRequest& request);
Design full_factorial(const DesignRequest& request);
Design plackett_burman(const DesignRequest& request);
Design d_optimal(const DesignRequest& request);
Design i_optimal(const DesignRequest& request);
Design a_optimal(const DesignRequest& request);
Design compound_optimal(const DesignRequest& request);
Design g_optimal(const DesignRequest& request);
Design table_design(const DesignRequest& request);
Design space_filling_design(const DesignRequest& request);
Design sobol_design(const DesignRequest& request);
Design random_design(const DesignRequest& request);

/// The settings of a coded point in natural units.
std::vector<double> natural_settings(const std::vector<Factor>& factors,
                                     const Eigen::Ref<const Eigen::VectorXd>& coded);

/// The coded point for settings in natural units.
Eigen::VectorXd coded_point(const std::vector<Factor>& factors, const std::vector<double>& natural);

/// A random run order: the indices of points in the order to run them. Blocks are in ascending
/// order; within a block whole plots are in random order and stay together; within a whole plot (or
/// a block without whole plots) runs are in random order, except that centre runs are evenly spaced
/// from the first run to the last, a single one in the middle, to reveal drift (NIST/SEMATECH
/// e-Handbook, 5.3.3.7). The same seed gives the same order on every machine.
std::vector<int> random_run_order(const Design& design, std::uint64_t seed);

}  // namespace doetune::doe
