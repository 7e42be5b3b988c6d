// How long at least one of several things was under way.
#pragma once

#include <boost/icl/interval_set.hpp>

namespace doetune::workloads {

/// The union of intervals of time, which may overlap. Long ago it is forgotten.
class CoveredTime {
 public:
  /// The part of an interval that none before it covers, in seconds.
  double add(double begin_s, double end_s);

 private:
  boost::icl::interval_set<double> covered_;
};

}  // namespace doetune::workloads
