// The runs of a table, as given: the design of a study whose points were chosen elsewhere.
#include <fmt/format.h>

#include "doe/design.h"

namespace doetune::doe {

Design table_design(const DesignRequest& request) {
  if (request.table.empty())
    throw DesignError("design type 'table' has no runs: the file is empty");
  Design design;
  for (const std::vector<double>& settings : request.table) {
    design.points.push_back({coded_point(request.factors, settings), PointType::kTable});
  }
  return design;
}

}  // namespace doetune::doe
