#include "runner/loop/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace doetune::runner {
namespace {

struct Point {
  double order;
  double value;
};

double mean_of(const std::vector<Point>& points, double Point::*member) {
  double sum = 0;
  for (const Point& point : points) sum += point.*member;
  return sum / static_cast<double>(points.size());
}

bool have_one_sign(const std::vector<Point>& points) {
  return std::all_of(points.begin(), points.end(),
                     [&](const Point& point) { return point.value * points.front().value > 0; });
}

std::optional<Drift> drift_of(const std::string& response, const std::vector<Point>& points) {
  constexpr std::size_t kFewest = 3;
  if (points.size() < kFewest) return std::nullopt;
  const double center = mean_of(points, &Point::order);
  const double mean = mean_of(points, &Point::value);
  double sxx = 0;
  double sxy = 0;
  double syy = 0;
  for (const auto& [order, value] : points) {
    sxx += (order - center) * (order - center);
    sxy += (order - center) * (value - mean);
    syy += (value - mean) * (value - mean);
  }
  if (sxx == 0) return std::nullopt;
  const auto freedom = static_cast<double>(points.size() - 2);
  const double slope = sxy / sxx;
  const double residual = std::max(0.0, syy - slope * sxy);
  const double std_error = std::sqrt(residual / freedom / sxx);
  const double t = boost::math::quantile(boost::math::students_t(freedom), 0.975);
  const bool is_relative = have_one_sign(points);
  const double span =
      (points.back().order - points.front().order) / (is_relative ? std::abs(mean) : 1);
  Drift drift{response, static_cast<int>(points.size()), slope * span, t * std_error * span,
              is_relative};
  drift.is_clear = std::abs(drift.change) > drift.half_width;
  return drift;
}

}  // namespace

std::vector<Drift> drifts(const study::Study& study, const study::Plan& plan,
                          const std::map<int, study::RunRecord>& final_records) {
  std::vector<Drift> found;
  for (const study::Response& response : study.responses) {
    std::vector<Point> points;
    const std::vector<double>* settings = nullptr;
    for (const study::PlannedRun& run : plan.runs) {
      const auto record = final_records.find(run.run);
      if (run.type != doe::PointType::kCenter || record == final_records.end()) continue;
      if (record->second.status != study::RunStatus::kCompleted) continue;
      const auto value = record->second.responses.find(response.name);
      if (value == record->second.responses.end()) continue;
      if (settings != nullptr && *settings != run.settings) continue;  // other categories
      settings = &run.settings;
      points.push_back({static_cast<double>(run.run), value->second});
    }
    if (auto drift = drift_of(response.name, points)) found.push_back(std::move(*drift));
  }
  return found;
}

std::string drift_text(const Drift& drift) {
  constexpr double kTooWide = 0.1;  // maximum half-width to be called steady
  const bool is_steady = drift.is_relative && drift.half_width <= kTooWide;
  const char* const what = drift.is_clear ? "drifts"
                           : is_steady    ? "is steady at the centre"
                                          : "varies too much to detect a drift";
  const auto amount = [&](double change) {
    if (!drift.is_relative) return fmt::format("{:.2g}", change);
    return std::abs(change) >= 1 ? fmt::format("{:.0f} %", 100 * change)
                                 : fmt::format("{:.2g} %", 100 * change);
  };
  return fmt::format("{} {}: {}{} (±{}) over {} centre runs", drift.response, what,
                     drift.change < 0 ? "" : "+", amount(drift.change), amount(drift.half_width),
                     drift.runs);
}

std::vector<std::string> DriftReport::after(const study::PlannedRun& run, const study::Study& study,
                                            const study::Plan& plan,
                                            const std::map<int, study::RunRecord>& final_records) {
  std::vector<std::string> texts;
  if (run.type != doe::PointType::kCenter) return texts;
  for (const Drift& drift : drifts(study, plan, final_records)) {
    if (drift.is_clear && reported_.insert(drift.response).second) {
      texts.push_back(drift_text(drift));
    }
  }
  return texts;
}

}  // namespace doetune::runner
