// Limits that no design of any number of runs can pass.
#pragma once

#include <optional>

#include "doe/model.h"
#include "doe/region.h"

namespace doetune::doe {

/// A limit of an efficiency in percent, from a design measure: points with weights that need not be
/// multiples of 1/n. No exact design is better than the best measure.
struct ApproximateBound {
  double efficiency_percent = 0;  ///< not exceeded by any design, of any number of runs
  double attained_percent = 0;    ///< by the measure that was found: the limit is no lower
  bool proven = false;  ///< false: over constraints, where only sampled points were compared
};

/// The limit of the D-efficiency 100 |X'X|^(1/p) / n. For a measure with information matrix M,
/// d(x) = f(x)' M^-1 f(x) and any other measure M':
///
///   |M'|^(1/p) <= tr(M^-1 M') / p |M|^(1/p) <= max d / p |M|^(1/p)
///
/// with the proven maximum of d (max_variance). The measure is improved by exchanges of weight
/// between points, starting from three levels a factor, and given the point of largest d, until the
/// limit is known to 1e-5 of it or time is up. Empty where no measure determines the model, or the
/// time did not suffice for one.
///
/// Source: Kiefer & Wolfowitz (1960), Canadian Journal of Mathematics 12, 363-366; the exchanges
/// are those of Harman, Filova & Richtarik (2020), JASA 115, 348-361.
std::optional<ApproximateBound> d_bound(const Model& model, const Region& region,
                                        double time_limit_s = 10);

}  // namespace doetune::doe
