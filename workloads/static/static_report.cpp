#include "workloads/static/static_report.h"

#include <numeric>

namespace doetune::workloads {

double StageTimes::sum() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

StageTimes& StageTimes::operator+=(const StageTimes& other) {
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += other.seconds[i];
  return *this;
}

}  // namespace doetune::workloads
