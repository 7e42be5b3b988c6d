#include "workloads/language/covered_time.h"

namespace doetune::workloads {
namespace {

constexpr std::size_t kKept = 1024;  // gaps before them are no longer filled

}  // namespace

double CoveredTime::add(double begin_s, double end_s) {
  using Interval = boost::icl::interval<double>;
  boost::icl::interval_set<double> added(Interval::right_open(begin_s, end_s));
  added -= covered_;
  covered_ += added;
  while (covered_.iterative_size() > kKept) covered_.erase(*covered_.begin());
  return boost::icl::length(added);
}

}  // namespace doetune::workloads
