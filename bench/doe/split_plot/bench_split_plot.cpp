// Prints, as a Markdown table, the D-optimal split-plot designs found on one thread, for
// three-level and continuous factors, with default effort and from a search of 5000 starts or
// twenty seconds.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "doe/design.h"

using namespace doetune;

namespace {

struct Problem {
  int hard;
  int easy;
  const char* model;
  int whole_plots;
  int runs;
};

constexpr Problem kProblems[] = {
    {1, 2, "quadratic", 4, 12},  {1, 2, "quadratic", 5, 20},    {1, 2, "quadratic", 7, 21},
    {2, 2, "quadratic", 7, 21},  {2, 2, "quadratic", 8, 32},    {1, 4, "quadratic", 6, 30},
    {2, 3, "quadratic", 10, 40}, {2, 3, "interactions", 8, 32}, {3, 4, "quadratic", 12, 48}};

doe::Factor factor(int index, bool hard, bool three_levels) {
  doe::Factor factor;
  factor.name = fmt::format("x{}", index + 1);
  factor.hard_to_change = hard;
  if (!three_levels) return factor;
  factor.kind = doe::FactorKind::kDiscrete;
  factor.levels = {-1, 0, 1};
  return factor;
}

doe::DesignRequest request_of(const Problem& problem, bool three_levels) {
  doe::DesignRequest request;
  for (int f = 0; f < problem.hard + problem.easy; ++f) {
    request.factors.push_back(factor(f, f < problem.hard, three_levels));
  }
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named(problem.model, request.factors);
  request.options.runs = problem.runs;
  request.options.whole_plots = problem.whole_plots;
  request.seed = 1;
  request.threads = 1;
  return request;
}

/// 100 |X' V^-1 X|^(1/p) / n of the final design, V = I + Z Z'.
double d_value(const doe::DesignRequest& request, const doe::Design& design) {
  const auto n = static_cast<Eigen::Index>(design.points.size());
  Eigen::MatrixXd v = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      if (design.points[i].whole_plot == design.points[j].whole_plot) v(i, j) += 1;
    }
  }
  const Eigen::MatrixXd x = request.model.matrix(design.coded());
  const Eigen::MatrixXd m = x.transpose() * v.llt().solve(x);
  return 100 * std::pow(m.determinant(), 1.0 / static_cast<double>(m.rows())) /
         static_cast<double>(n);
}

void print_search(doe::DesignRequest request, std::optional<int> starts, double time_limit_s) {
  request.options.starts = starts;
  request.options.time_limit_s = time_limit_s;
  const doe::Design design = doe::build_design("d-optimal", request);
  fmt::print("{:.4f}|{}|{:.1f}|", d_value(request, design), design.search->starts,
             design.search->seconds);
  std::fflush(stdout);
}

}  // namespace

int main() {
  fmt::print(
      "|hard, easy|model|whole plots|runs|three levels|starts|s|longer|starts|s|continuous|");
  fmt::print("starts|s|longer|starts|s|\n|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|-|\n");
  for (const Problem& problem : kProblems) {
    fmt::print("|{}, {}|{}|{}|{}|", problem.hard, problem.easy, problem.model, problem.whole_plots,
               problem.runs);
    for (const bool three_levels : {true, false}) {
      print_search(request_of(problem, three_levels), std::nullopt, 10);
      print_search(request_of(problem, three_levels), 5000, 20);
    }
    fmt::print("\n");
  }
}
