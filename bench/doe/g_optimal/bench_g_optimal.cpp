// Prints, as a Markdown table, the G-efficiencies of g-optimal designs for the quadratic model on
// [-1, 1]^K, with default settings on two threads, next to those of published designs. Each design
// is searched with factors of resolution 0.01 (the default of a study) and of 0.00001.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <chrono>
#include <cstdio>
#include <vector>

#include "doe/design.h"
#include "doe/evaluation/max_variance.h"

using namespace doetune;

namespace {

struct Target {
  int factors;
  int runs;
  double published;  ///< percent, by the proven maximum variance; 0: none
};

// H. Hansen's certified figures of published designs (github.com/HyrumHansen/thesisResearch).
const std::vector<Target> kTargets{{2, 6, 74.39},  {2, 7, 0},      {2, 8, 87.94},  {2, 9, 84.03},
                                   {2, 10, 86.30}, {2, 12, 88.11}, {3, 10, 70.38}, {3, 12, 83.13},
                                   {3, 14, 89.09}, {3, 16, 85.39}, {4, 15, 70.64}, {4, 24, 85.85},
                                   {5, 21, 67.84}, {5, 30, 75.71}, {6, 28, 0},     {7, 36, 0}};

doe::DesignRequest request(const Target& target, double step) {
  doe::DesignRequest request;
  for (int f = 0; f < target.factors; ++f) {
    doe::Factor factor;
    factor.name = fmt::format("x{}", f + 1);
    factor.low = -1;
    factor.high = 1;
    factor.step = step;
    request.factors.push_back(factor);
  }
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named("quadratic", request.factors);
  request.options.runs = target.runs;
  request.seed = 1;
  request.threads = 2;
  return request;
}

/// Recomputed from the runs, with the proven upper bound of the variance.
double proven_efficiency(const doe::DesignRequest& request, const doe::Design& design) {
  const Eigen::MatrixXd x = request.model.matrix(design.coded());
  const double largest_variance =
      doe::max_variance(request.model, request.region, (x.transpose() * x).inverse()).upper_bound;
  return 100.0 * static_cast<double>(x.cols()) / (static_cast<double>(x.rows()) * largest_variance);
}

void print_cells(const Target& target, double step) {
  const doe::DesignRequest wanted = request(target, step);
  const auto began = std::chrono::steady_clock::now();
  const doe::Design design = doe::build_design("g-optimal", wanted);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("{:.3f}|{:.1f}|{}|{}|", proven_efficiency(wanted, design), took.count(),
             design.search->starts, design.search->best_found);
}

}  // namespace

int main() {
  fmt::print(
      "|K|runs|published|to 0.01|seconds|starts|best found|to 0.00001|seconds|starts|best found|\n"
      "|-|-|-|-|-|-|-|-|-|-|-|\n");
  for (const Target& target : kTargets) {
    fmt::print("|{}|{}|{}|", target.factors, target.runs,
               target.published > 0 ? fmt::format("{:.2f}", target.published) : "");
    print_cells(target, 0);
    print_cells(target, 1e-5);
    fmt::print("\n");
    std::fflush(stdout);
  }
}
