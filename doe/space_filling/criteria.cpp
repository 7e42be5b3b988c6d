#include "doe/space_filling/criteria.h"

#include <cmath>
#include <limits>

#include "doe/space_filling/settings.h"

namespace doetune::doe {
namespace {

double squared(double x) { return x * x; }

/// The term t_l(i, j) defined in the header.
double maxpro_term(const Column& column, double a, double b) {
  switch (column.kind) {
    case ColumnKind::kContinuous:
      return squared(a - b);
    case ColumnKind::kDiscrete:
      return squared(std::abs(a - b) + 1.0 / column.levels);
    case ColumnKind::kNominal:
      break;
  }
  return squared((a != b ? 1.0 : 0.0) + 1.0 / column.levels);
}

}  // namespace

std::vector<Column> unit_columns(const std::vector<Factor>& factors, int runs) {
  std::vector<Column> columns;
  for (const Factor& factor : factors) {
    const double settings = setting_count(factor);
    if (factor.is_categorical()) {
      columns.push_back({ColumnKind::kNominal, static_cast<int>(settings)});
    } else if (settings < runs) {
      columns.push_back({ColumnKind::kDiscrete, static_cast<int>(settings)});
    } else {
      columns.push_back({});
    }
  }
  return columns;
}

UnitPoints unit_cube(const std::vector<Factor>& factors, const Eigen::MatrixXd& coded) {
  UnitPoints points{coded, unit_columns(factors, static_cast<int>(coded.rows()))};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    for (double& value : points.x.col(f)) value = unit_setting(factors[f], value);
  }
  return points;
}

double squared_distance(const UnitPoints& points, int i, int j) {
  double sum = 0;
  for (int c = 0; c < points.x.cols(); ++c) {
    const double difference = points.x(i, c) - points.x(j, c);
    const bool nominal = points.columns[c].kind == ColumnKind::kNominal;
    sum += nominal ? (difference != 0 ? 1.0 : 0.0) : squared(difference);
  }
  return sum;
}

double min_distance(const UnitPoints& points) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < points.x.rows(); ++i) {
    for (int j = 0; j < i; ++j) least = std::min(least, squared_distance(points, i, j));
  }
  return std::sqrt(least);
}

double phi_p(const UnitPoints& points, double p) {
  double sum = 0;
  for (int i = 0; i < points.x.rows(); ++i) {
    for (int j = 0; j < i; ++j) sum += std::pow(squared_distance(points, i, j), -p / 2);
  }
  return std::pow(sum, 1 / p);
}

double centered_l2(const Eigen::MatrixXd& x) {
  const auto n = static_cast<double>(x.rows());
  const Eigen::MatrixXd z = (x.array() - 0.5).abs().matrix();
  double singles = 0;
  double pairs = 0;
  for (int i = 0; i < x.rows(); ++i) {
    singles += (1 + z.row(i).array() / 2 - z.row(i).array().square() / 2).prod();
    for (int j = 0; j < x.rows(); ++j) {
      pairs += (1 + (z.row(i) + z.row(j) - (x.row(i) - x.row(j)).cwiseAbs()).array() / 2).prod();
    }
  }
  const double whole = std::pow(13.0 / 12.0, static_cast<double>(x.cols()));
  return std::sqrt(whole - 2 / n * singles + pairs / (n * n));
}

double maxpro(const UnitPoints& points) {
  const auto n = static_cast<double>(points.x.rows());
  const auto k = static_cast<double>(points.x.cols());
  double sum = 0;
  for (int i = 0; i < points.x.rows(); ++i) {
    for (int j = 0; j < i; ++j) {
      double product = 1;
      for (int c = 0; c < points.x.cols(); ++c) {
        product /= maxpro_term(points.columns[c], points.x(i, c), points.x(j, c));
      }
      sum += product;
    }
  }
  return std::pow(sum / (n * (n - 1) / 2), 1 / k);
}

}  // namespace doetune::doe
