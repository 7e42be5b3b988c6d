#include "doe/space_filling/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "doe/combinations.h"
#include "doe/space_filling/settings.h"

namespace doetune::doe {
namespace {

constexpr int kMaxPointsTried = 1'000'000;
// Where so many tries, and so many times those up to the last new point, found no other, there are
// no other points.
constexpr int kMinInVain = 10'000, kTimesInVain = 20;
constexpr std::uint64_t kSampleStream = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Eigen::VectorXd coded_of(const std::vector<Factor>& factors, const Eigen::VectorXd& point) {
  Eigen::VectorXd coded(point.size());
  for (Eigen::Index f = 0; f < point.size(); ++f) coded[f] = coded_setting(factors[f], point[f]);
  return coded;
}

int points_to_place(const DesignRequest& request, const char* type) {
  const DesignOptions& options = request.options;
  if (!options.runs) throw DesignError(fmt::format("{} needs the option runs", type));
  if (*options.runs % options.replicates != 0) {
    throw DesignError(fmt::format("{} runs are not a multiple of {} replicates", *options.runs,
                                  options.replicates));
  }
  int center_runs = options.center_runs.value_or(0);
  for (const Factor& factor : request.factors) {
    if (factor.is_categorical()) center_runs *= static_cast<int>(factor.level_names.size());
  }
  const int points = *options.runs / options.replicates - center_runs;
  if (points < 1) {
    throw DesignError(fmt::format("{} runs leave none besides {} centre runs", *options.runs,
                                  center_runs * options.replicates));
  }
  return points;
}

Design filling_design(const DesignRequest& request, const Eigen::MatrixXd& points) {
  Design design;
  for (const auto& row : points.rowwise()) {
    design.points.push_back({coded_of(request.factors, row.transpose()), PointType::kSpaceFilling});
  }
  append_center_runs(request, request.options.center_runs.value_or(0), design);
  return design;
}

bool allows_point(const DesignRequest& request, const Eigen::VectorXd& point) {
  return request.region.allows(natural_settings(request.factors, coded_of(request.factors, point)));
}

Eigen::VectorXd random_point(const std::vector<Factor>& factors, RandomStream& random) {
  Eigen::VectorXd point(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    point[f] = usable_setting(factors[f], random.uniform());
  }
  return point;
}

RegionSample sample_region(const DesignRequest& request, int wanted) {
  RandomStream random(request.seed, kSampleStream);
  std::set<std::vector<double>> found;
  RegionSample sample;
  int max_tried = kMaxPointsTried;
  while (static_cast<int>(found.size()) < wanted && sample.tried < max_tried) {
    ++sample.tried;
    const Eigen::VectorXd point = random_point(request.factors, random);
    if (!allows_point(request, point)) continue;
    ++sample.allowed;
    if (found.insert({point.begin(), point.end()}).second)
      max_tried = std::min(kMaxPointsTried, kMinInVain + kTimesInVain * sample.tried);
  }
  if (found.empty()) {
    throw DesignError(fmt::format(
        "the constraints allow none of {} random settings; widen them, or the factors' ranges",
        sample.tried));
  }
  sample.points.resize(static_cast<Eigen::Index>(found.size()),
                       static_cast<Eigen::Index>(request.factors.size()));
  Eigen::Index row = 0;
  for (const std::vector<double>& point : found) {
    sample.points.row(row++) = Eigen::RowVectorXd::Map(point.data(), sample.points.cols());
  }
  return sample;
}

}  // namespace doetune::doe
