// The table design: runs given by the user, e.g. chosen by another tool.
#include <fmt/format.h>

#include "doe/design.h"

namespace doetune::doe {

Design table_design(const DesignRequest& request) {
  if (request.table.empty())
    throw DesignError("design type 'table' has no runs: the file is empty");
  Design design;
  for (std::size_t i = 0; i < request.table.size(); ++i) {
    design.points.push_back({coded_point(request.factors, request.table[i]), PointType::kTable});
    if (!request.table_whole_plots.empty()) {
      design.points.back().whole_plot = request.table_whole_plots[i];
    }
  }
  return design;
}

}  // namespace doetune::doe
