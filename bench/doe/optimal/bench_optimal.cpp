// Prints, as Markdown tables, the results of the searches for optimal designs with default settings
// on two threads, next to the best published values. An argument d, i, a, words, speed or large
// prints that table only.
#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "doe/design.h"
#include "doe/evaluation/moments.h"
#include "doe/optimal/approximate_design.h"
#include "doe/optimal/search.h"

using namespace doetune;

namespace {

struct Target {
  int factors;
  int runs;
  double grid;        ///< best on a 3-level grid; 0: none published
  double continuous;  ///< best on [-1, 1]^K; 0: none published
};

// 100 |X'X|^(1/p) / n: the best of hundreds to 100,000 exchanges from random starts, from a survey
// made for this project in 2026 (K = 4, n = 15 on the grid: the R package AlgDesign).
const std::vector<Target> kD{
    {1, 3, 52.913, 0},        {1, 4, 50.000, 0},        {1, 5, 50.397, 0},
    {2, 6, 41.997, 42.3123},  {2, 7, 44.869, 45.0294},  {2, 8, 45.428, 45.6158},
    {2, 9, 46.2241, 0},       {2, 10, 45.907, 45.9888}, {2, 12, 46.534, 46.6212},
    {3, 10, 40.953, 42.3472}, {3, 11, 0, 44.7689},      {3, 12, 44.976, 45.0003},
    {3, 14, 46.304, 46.3262}, {3, 15, 45.949, 46.0281}, {3, 16, 45.834, 45.9132},
    {3, 20, 46.399, 46.4447}, {4, 15, 42.505, 43.2407}, {4, 17, 44.515, 44.8072},
    {4, 20, 46.561, 46.6813}, {4, 24, 47.242, 47.3588}, {4, 25, 47.750, 47.7740},
    {4, 30, 48.288, 48.4177}, {5, 21, 45.896, 46.7210}, {5, 26, 48.247, 48.3178},
    {5, 30, 48.667, 48.7764}, {6, 28, 46.280, 0},       {6, 40, 51.079, 0}};

// Average variance, and tr((X'X)^-1): the same survey.
const std::vector<Target> kI{{2, 6, 0, .76565},  {2, 7, 0, .57356},  {2, 8, 0, .48885},
                             {2, 9, 0, .42646},  {2, 10, 0, .36587}, {2, 11, 0, .32602},
                             {2, 12, 0, .30278}, {3, 10, 0, .68557}, {3, 11, 0, .55004},
                             {3, 12, 0, .48969}, {3, 13, 0, .44880}, {3, 14, 0, .40650},
                             {3, 15, 0, .36759}, {3, 16, 0, .34052}};
const std::vector<Target> kA{{2, 6, 0, 4.0081},  {2, 7, 0, 3.0836},  {2, 8, 0, 2.5597},
                             {2, 9, 0, 2.1363},  {2, 10, 0, 1.7976}, {2, 11, 0, 1.6360},
                             {2, 12, 0, 1.5253}, {3, 10, 0, 3.7210}, {3, 11, 0, 3.1466},
                             {3, 12, 0, 2.8827}, {3, 13, 0, 2.5851}, {3, 14, 0, 2.3000},
                             {3, 15, 0, 2.1306}, {3, 16, 0, 1.9750}};

std::vector<doe::Factor> numbers(int k) {
  std::vector<doe::Factor> factors(k);
  for (int f = 0; f < k; ++f) factors[f].name = fmt::format("x{}", f + 1);
  return factors;
}

doe::DesignRequest quadratic(int k, int runs) {
  doe::DesignRequest request;
  request.factors = numbers(k);
  request.model = doe::Model::named("quadratic", request.factors);
  request.options.runs = runs;
  request.seed = 1;
  request.threads = 2;
  return request;
}

/// The criterion, recomputed from the design.
double score(std::string_view type, const doe::DesignRequest& request, const doe::Design& design) {
  const Eigen::MatrixXd x = request.model.matrix(design.coded());
  const Eigen::MatrixXd information = x.transpose() * x;
  const auto p = static_cast<double>(x.cols());
  const auto n = static_cast<double>(x.rows());
  if (type == "d-optimal") return 100 * std::pow(information.determinant(), 1 / p) / n;
  const Eigen::MatrixXd inverse = information.inverse();
  if (type == "a-optimal") return inverse.trace();
  return (inverse * doe::moment_matrix(request.model, request.region)).trace();
}

std::string shown(double value) { return value == 0 ? "" : fmt::format("{:.6g}", value); }

/// `better` is 1 where larger values are better, -1 where smaller ones are.
void print_table(std::string_view type, const std::vector<Target>& targets, int better) {
  fmt::print("\n{}\n\n", type);
  fmt::print("|K|n|grid|continuous|found|ratio|as settings|bound|seconds|starts|best found|\n");
  fmt::print("|-|-|-|-|-|-|-|-|-|-|-|\n");
  for (const Target& target : targets) {
    const doe::DesignRequest request = quadratic(target.factors, target.runs);
    const doe::Design design = doe::build_design(type, request);
    const double best = target.continuous == 0 ? target.grid : target.continuous;
    const doe::SearchReport& search = *design.search;
    fmt::print("|{}|{}|{}|{}|{:.6g}|{:.5f}|{:.6g}|{}|{:.2f}|{}|{}{}|\n", target.factors,
               target.runs, shown(target.grid), shown(target.continuous), search.best,
               better > 0 ? search.best / best : best / search.best, score(type, request, design),
               shown(search.bound.value_or(0)), search.seconds, search.starts, search.best_found,
               search.stopped_by_time ? ", time" : "");
    std::fflush(stdout);
  }
}

/// Eight categorical factors of five levels, main effects, 400 runs: D relative to the hypothetical
/// balanced orthogonal design, whose information is the exact product n I in orthogonal contrasts.
/// The problem of issue 64 of the R package skpr.
void print_words() {
  doe::DesignRequest request;
  for (int f = 0; f < 8; ++f) {
    doe::Factor factor;
    factor.name = fmt::format("x{}", f + 1);
    factor.kind = doe::FactorKind::kCategorical;
    factor.level_names = {"a", "b", "c", "d", "e"};
    request.factors.push_back(factor);
  }
  request.model = doe::Model::named("linear", request.factors);
  request.options.runs = 400;
  request.seed = 1;
  request.threads = 2;
  // Sum-to-zero contrasts of a balanced factor: n/5 (I + J) has the determinant (n/5)^4 5.
  const double best = (8 * (4 * std::log(400 / 5.0) + std::log(5.0)) + std::log(400.0)) / 33;
  fmt::print("\nEight words of five levels, main effects, 400 runs\n\n");
  fmt::print("|time limit|D against orthogonal, percent|seconds|starts|\n|-|-|-|-|\n");
  for (const double limit : {0.1, 1.0, 10.0}) {
    request.options.time_limit_s = limit;
    const doe::Design design = doe::build_design("d-optimal", request);
    const Eigen::MatrixXd x = request.model.matrix(design.coded());
    const Eigen::MatrixXd information = x.transpose() * x;
    const double log_det = Eigen::FullPivLU<Eigen::MatrixXd>(information / 80).determinant() > 0
                               ? std::log((information / 80).determinant()) + 33 * std::log(80.0)
                               : -1e300;
    fmt::print("|{}|{:.5f}|{:.3f}|{}|\n", limit, 100 * std::exp(log_det / 33 - best),
               design.search->seconds, design.search->starts);
    std::fflush(stdout);
  }
}

doe::SearchResult search(int k, int runs, const doe::SearchSettings& settings) {
  const doe::DesignRequest request = quadratic(k, runs);
  doe::ExchangeProblem problem{doe::SearchSpace(request),         runs, {}, {},
                               doe::ExactCriterion::kDeterminant, {}};
  const int p = problem.space.column_count();
  problem.base = Eigen::MatrixXd::Zero(p, p);
  return doe::search_designs(problem, settings).value();
}

void print_speed() {
  fmt::print("\nStarts a second on one thread, quadratic K = 6, n = 40, 20,000 starts\n\n");
  fmt::print("|starts/s|D, percent|best found|\n|-|-|-|\n");
  for (int turn = 0; turn < 3; ++turn) {
    const doe::SearchResult found = search(6, 40, {20'000, 60, 1, 1});
    fmt::print("|{:.0f}|{:.4f}|{}|\n", found.starts / found.seconds,
               100 * std::exp(found.value / 28) / 40, found.best_found);
    std::fflush(stdout);
  }
}

void print_large() {
  fmt::print("\nQuadratic K = 20 (231 terms), n = 236, two threads\n\n");
  fmt::print("|time limit|D, percent|seconds|starts|\n|-|-|-|-|\n");
  for (const double limit : {10.0, 60.0}) {
    const doe::SearchResult found = search(20, 236, {std::nullopt, limit, 2, 1});
    fmt::print("|{}|{:.4f}|{:.1f}|{}|\n", limit, 100 * std::exp(found.value / 231) / 236,
               found.seconds, found.starts);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, std::function<void()>>> tables{
      {"d", [] { print_table("d-optimal", kD, 1); }},
      {"i", [] { print_table("i-optimal", kI, -1); }},
      {"a", [] { print_table("a-optimal", kA, -1); }},
      {"words", print_words},
      {"speed", print_speed},
      {"large", print_large}};
  bool printed = false;
  for (const auto& [name, print] : tables) {
    if (argc > 1 && name != argv[1]) continue;
    print();
    printed = true;
  }
  if (printed) return 0;
  fmt::print(stderr, "expected one of d, i, a, words, speed, large\n");
  return 2;
}
