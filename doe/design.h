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

enum class PointType { kFactorial, kAxial, kCenter, kTable, kConfirmation };

std::string_view point_type_name(PointType type);
PointType point_type_from_name(std::string_view name);  ///< throws std::invalid_argument

/// One run of a design. `coded` has one entry a factor (see Factor); every point is usable: its
/// natural settings are ones that Factor::snap leaves alone.
struct DesignPoint {
  Eigen::VectorXd coded;
  PointType type = PointType::kFactorial;
  int block = 1;      ///< from 1
  int replicate = 1;  ///< from 1: the how-manieth run at these settings
};

/// A list of points in standard order, and what the builder has to say about them.
struct Design {
  std::vector<DesignPoint> points;
  std::vector<std::string> notes;

  Eigen::MatrixXd coded() const;  ///< n x k
};

/// What a design is asked for.
struct DesignRequest {
  std::vector<Factor> factors;
  Region region;
  int center_runs = 0;
  int replicates = 1;
  int blocks = 1;
  std::uint64_t seed = 0;
  std::vector<std::vector<double>> table;  ///< type `table`: the runs, natural units
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
  bool as_given = false;  ///< the user's own runs: neither snapped nor left out
};

std::span<const DesignType> design_types();
std::vector<std::string> design_type_names();

/// The design of a type, in standard order, with every point snapped to usable settings and points
/// outside the region dropped (a note says how many), unless the type takes its points as given.
/// Throws DesignError for an unknown type (naming the nearest), a request the type cannot meet, a
/// design without runs or with over 1,000,000.
Design build_design(std::string_view type, const DesignRequest& request);

/// Builders, one a source file; called through build_design.
Design face_centred_ccd(const DesignRequest& request);
Design table_design(const DesignRequest& request);

/// The settings of a coded point in natural units.
std::vector<double> natural_settings(const std::vector<Factor>& factors,
                                     const Eigen::Ref<const Eigen::VectorXd>& coded);

/// A coded point of settings in natural units.
Eigen::VectorXd coded_point(const std::vector<Factor>& factors, const std::vector<double>& natural);

/// A random run order: the indices of points in the order to run them, random within each block,
/// blocks ascending. The same seed gives the same order on any machine.
std::vector<int> random_run_order(const Design& design, std::uint64_t seed);

}  // namespace doetune::doe
