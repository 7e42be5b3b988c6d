// Designed experiments: which points to run.
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
  kBaseline
};

std::string_view point_type_name(PointType type);
PointType point_type_from_name(std::string_view name);  ///< throws std::invalid_argument

/// One run of a design. `coded` has one entry a factor (see Factor); every point is usable: its
/// natural settings are ones that Factor::snap leaves alone.
struct DesignPoint {
  Eigen::VectorXd coded;
  PointType type = PointType::kFactorial;
  int block = 1;       ///< from 1
  int replicate = 1;   ///< from 1: the how-manieth run at these settings
  int whole_plot = 0;  ///< from 1: runs between two changes of a hard-to-change factor; 0: none
};

/// How well the search for a design went, so that its user knows whether more would help.
struct SearchReport {
  std::string criterion;        ///< what `best` is, with its unit: "D-efficiency, percent"
  double best = 0;              ///< of the design that was found
  std::optional<double> bound;  ///< no design can be better; empty where none is known
  int starts = 0;               ///< searches from a random start
  int best_found = 0;           ///< how many of them ended at the best (to 1e-6 of it)
  double seconds = 0;
  bool stopped_by_time = false;  ///< by the time limit, with starts still to come
};

/// A list of points in standard order, and what the builder has to say about them.
struct Design {
  std::vector<DesignPoint> points;
  std::vector<std::string> notes;
  std::optional<SearchReport> search;  ///< of designs that are searched for

  Eigen::MatrixXd coded() const;  ///< n x k
};

/// Of the logarithms of a design's efficiencies in a compound criterion.
struct CriterionWeights {
  double d = 0;  ///< |M|^(1/p)
  double i = 0;  ///< 1 / average prediction variance
  double a = 0;  ///< 1 / sum of coefficient variances
};

/// What a study file can say of its design. A type takes the options that it lists
/// (DesignType::options); an option left out has the type's own default.
struct DesignOptions {
  std::optional<int> runs;              ///< of the design, centre runs and replicates included
  std::optional<int> center_runs;       ///< at the centre of the numeric factors
  int replicates = 1;                   ///< how often the whole design is run
  int blocks = 1;                       ///< groups run one after the other
  std::optional<int> levels;            ///< of a continuous or integer factor
  std::optional<int> resolution;        ///< of a fraction, at least
  std::vector<std::string> generators;  ///< of a fraction: "d = a*b*c"
  std::string alpha;                    ///< ccd: face, rotatable, orthogonal, spherical, a number
  std::string criterion;                ///< space-filling: maximin, centered-l2, maxpro
  std::optional<int> starts;            ///< of a search; empty: until more would hardly help
  std::optional<double> time_limit_s;   ///< of a search
  std::optional<CriterionWeights> weights;  ///< compound-optimal; empty: d and i alike
  std::vector<std::string> possible;        ///< terms that may matter (Bayesian D)
  std::optional<int> whole_plots;       ///< groups of runs, each with one hard-to-change setting
  std::optional<double> budget_s;       ///< time that all runs and changes may take
  std::optional<double> run_cost_s;     ///< of one run
  std::optional<double> change_cost_s;  ///< of setting up one whole plot, also the first
};

/// What a design is asked for.
struct DesignRequest {
  std::vector<Factor> factors;
  Region region;
  Model model;  ///< that the design must determine
  DesignOptions options;
  std::uint64_t seed = 0;
  int threads = 0;                        ///< of a search; 0: all. The design is the same for any
  Eigen::MatrixXd existing;               ///< m x k coded runs that are there already; may be empty
  std::vector<int> existing_whole_plots;  ///< of each; 0 or empty: none
  std::vector<std::vector<double>> table;  ///< type `table`: the runs, natural units
  std::vector<int> table_whole_plots;      ///< of each; 0 or empty: none
};

/// Thrown where the request has no such design; the message says why and what would do.
struct DesignError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One family of designs. A new one is a source file and a line in design.cpp.
struct DesignType {
  std::string_view name;     ///< as written in the study file
  std::string_view summary;  ///< what it is for
  std::string_view source;   ///< where the construction is published
  Design (*build)(const DesignRequest&);
  std::string_view options;                      ///< that it takes: "center_runs blocks"
  std::string_view default_model = "quadratic";  ///< a name of Model::names()
  bool needs_model = true;                       ///< whether the runs must determine the model
  bool as_given = false;  ///< the user's own runs: neither snapped nor left out
};

std::span<const DesignType> design_types();
std::vector<std::string> design_type_names();

/// Throws DesignError for an unknown type, naming the nearest.
const DesignType& find_design_type(std::string_view name);

/// The options a type takes, as the study file writes them.
std::vector<std::string> option_names(const DesignType& type);

/// The design of a type, in standard order, with every point snapped to usable settings and points
/// outside the region dropped (a note says how many), unless the type takes its points as given.
/// Throws DesignError for an unknown type (naming the nearest), a request the type cannot meet, a
/// design without runs or with over 1,000,000.
Design build_design(std::string_view type, const DesignRequest& request);

/// Throws DesignError where a model matrix of so many runs and columns takes more memory than
/// machines have, or minutes to factorise.
void check_size(double runs, double columns);

/// Builders, one a source file; called through build_design.
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

/// A coded point of settings in natural units.
Eigen::VectorXd coded_point(const std::vector<Factor>& factors, const std::vector<double>& natural);

/// A random run order: the indices of points in the order to run them. Blocks ascend; inside a
/// block whole plots are in random order and keep together; inside a whole plot (or a block
/// without) runs are in random order, but centre runs are spread evenly, the first and the last
/// among them, a single one in the middle: so they show drift (NIST/SEMATECH e-Handbook, 5.3.3.7).
/// The same seed gives the same order on any machine.
std::vector<int> random_run_order(const Design& design, std::uint64_t seed);

}  // namespace doetune::doe
