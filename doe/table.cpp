// The runs of a table, as given: the design of a study whose points were chosen elsewhere.
#include <fmt/format.h>

#include <map>

#include "doe/design.h"

namespace doetune::doe {

Design table_design(const DesignRequest& request) {
  if (request.table.empty())
    throw DesignError("design type 'table' has no runs: the file is empty");
  Design design;
  std::map<std::vector<double>, int> seen;
  for (const std::vector<double>& settings : request.table) {
    DesignPoint point{coded_point(request.factors, settings), PointType::kTable};
    point.replicate = ++seen[settings];
    design.points.push_back(std::move(point));
  }
  return design;
}

}  // namespace doetune::doe
