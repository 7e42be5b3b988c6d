// Limits on efficiency that no exact design of any size can exceed.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

/// A limit on an efficiency in percent from a design measure (approximate design): points with
/// weights that need not be multiples of 1/n. No exact design is better than the optimal measure.
struct ApproximateBound {
  double efficiency_percent = 0;  ///< not exceeded by a design of any size
  double attained_percent = 0;    ///< by the measure that was found: the true limit is no lower
  bool proven = false;  ///< false with constraints, where only sampled points were compared
};

/// The limit on the D-efficiency 100 |X'X|^(1/p) / n. For a measure with information matrix M, d(x)
/// = f(x)' M^-1 f(x) and any other measure M':
///
///   |M'|^(1/p) <= tr(M^-1 M') / p |M|^(1/p) <= max d / p |M|^(1/p)
///
/// with the proven maximum of d (max_variance). The measure starts from three levels per factor and
/// is improved by exchanging weight between points and by adding the point of largest d, until the
/// limit is known to 2e-5 relative or the time limit is reached. Empty if no measure determines the
/// model, or none was found in time, and for models of over 800 columns except full quadratics.
///
/// Source: Kiefer & Wolfowitz (1960), Canadian Journal of Mathematics 12, 363-366; the exchanges
/// are those of Harman, Filova & Richtarik (2020), JASA 115, 348-361.
std::optional<ApproximateBound> d_bound(const Model& model, const Region& region,
                                        double time_limit_s = 10);

/// A lower limit on a linear criterion.
struct LinearBound {
  double least = 0;     ///< n tr((X'X)^-1 L) is no smaller for a design of any size n
  double attained = 0;  ///< by the measure that was found: the true limit is no higher
  bool proven = false;  ///< as in ApproximateBound
};

/// The limit on n tr((X'X)^-1 L) for a positive semidefinite L (p x p): A-optimality with L = I (no
/// A-efficiency exceeds 100 p / least), I-optimality with L = moment_matrix(model, region) (no
/// average prediction variance is below least / n). For a measure with information matrix M, T =
/// tr(M^-1 L) and phi(x) = f' M^-1 L M^-1 f, any other measure has T' >= T^2 / max phi. The weights
/// are multiplied by sqrt(phi / T) until the limit is known to 2e-4 relative or the time limit is
/// reached. Empty as for d_bound, and for all models of over 800 columns.
///
/// Sources: Pukelsheim (1993), Optimal Design of Experiments, ch. 7; multiplicative algorithm,
/// Silvey, Titterington & Torsney (1978), Communications in Statistics A7, 1379-1389.
std::optional<LinearBound> linear_bound(const Model& model, const Region& region,
                                        const Eigen::MatrixXd& criterion, double time_limit_s = 10);

}  // namespace doetune::doe
