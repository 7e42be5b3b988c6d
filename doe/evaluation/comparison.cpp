#include "doe/evaluation/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace doetune::doe {
namespace {

using Value = std::optional<double>;

Value largest_vif(const FullEvaluation& full) {
  Value largest;
  for (const auto& [name, vif] : full.basics.vif) largest = std::max(largest.value_or(vif), vif);
  return largest;
}

/// The largest |correlation| between two different columns.
Value largest_correlation(const FullEvaluation& full) {
  const Eigen::MatrixXd& r = full.correlation.values;
  if (r.rows() < 2) return std::nullopt;
  return (r - Eigen::MatrixXd(r.diagonal().asDiagonal())).maxCoeff();
}

Value quantile(const FullEvaluation& full, std::size_t twentieth) {
  if (full.variance_quantiles.empty()) return std::nullopt;
  return full.variance_quantiles[twentieth];
}

Value power_of(const FullEvaluation& full, const std::string& term) {
  for (const TermPower& found : full.powers) {
    if (found.term == term) return found.power;
  }
  return std::nullopt;
}

/// A row of the comparison, except for those on power.
struct Property {
  const char* name;
  int better;
  Value (*of)(const FullEvaluation&);
};

constexpr Property kProperties[] = {
    {"runs", -1, [](const FullEvaluation& e) -> Value { return e.basics.runs; }},
    {"terms", 0, [](const FullEvaluation& e) -> Value { return e.basics.terms; }},
    {"D-efficiency, percent", 1, [](const FullEvaluation& e) { return e.basics.d_efficiency; }},
    {"A-efficiency, percent", 1, [](const FullEvaluation& e) { return e.basics.a_efficiency; }},
    {"G-efficiency, percent", 1, [](const FullEvaluation& e) { return e.g_efficiency; }},
    {"G-efficiency at least, percent", 1,
     [](const FullEvaluation& e) { return e.g_efficiency_least; }},
    {"average prediction variance", -1, [](const FullEvaluation& e) { return e.average_variance; }},
    {"median prediction variance", -1, [](const FullEvaluation& e) { return quantile(e, 10); }},
    {"largest prediction variance", -1, [](const FullEvaluation& e) { return quantile(e, 20); }},
    {"condition number", -1, [](const FullEvaluation& e) { return e.basics.condition_number; }},
    {"largest VIF", -1, largest_vif},
    {"largest correlation of two terms", -1, largest_correlation},
    {"smallest distance of two runs", 1, [](const FullEvaluation& e) { return e.min_distance; }},
    {"centred L2 discrepancy", -1, [](const FullEvaluation& e) { return e.centered_l2; }},
};

}  // namespace

std::vector<ComparisonRow> compare(const FullEvaluation& a, const FullEvaluation& b) {
  std::vector<ComparisonRow> rows;
  for (const Property& property : kProperties) {
    rows.push_back({property.name, property.of(a), property.of(b), property.better});
  }
  std::vector<std::string> terms;
  for (const FullEvaluation* full : {&a, &b}) {
    for (const TermPower& found : full->powers) {
      if (std::find(terms.begin(), terms.end(), found.term) == terms.end()) {
        terms.push_back(found.term);
      }
    }
  }
  for (const std::string& term : terms) {
    rows.push_back({fmt::format("power of {}", term), power_of(a, term), power_of(b, term), 1});
  }
  return rows;
}

}  // namespace doetune::doe
