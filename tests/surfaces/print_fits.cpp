// Fits random data sets and prints data and results as R code, for check_with_r.R.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/models/parametric_model.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

template <typename Numbers>
std::string vector_of(const Numbers& numbers) {
  return fmt::format("c({:.17g})", fmt::join(numbers.begin(), numbers.end(), ","));
}

/// Terms in R syntax, in fitting order: by part.
std::string formula(const doe::Model& model) {
  std::vector<std::string> parts[4];
  for (const std::string& term : model.term_names()) {
    std::string text = term;
    const bool square = term.find('^') != std::string::npos;
    const bool product = term.find('*') != std::string::npos;
    for (std::size_t at; (at = text.find('*')) != std::string::npos;) text[at] = ':';
    if (square) text = "I(" + text + ")";
    parts[term == "1" ? 0 : (square ? 3 : (product ? 2 : 1))].push_back(text);
  }
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return fmt::format("{}", fmt::join(all, " + "));
}

void print_case(int number) {
  const std::vector<doe::Factor> factors{continuous("a"), continuous("b"),
                                         words("w", {"x", "y", "z"})};
  const char* names[] = {"linear", "interactions", "quadratic"};
  const doe::Model model = doe::Model::named(names[number % 3], factors);
  const bool blocked = number % 2 == 1, weighted = number % 4 >= 2;
  RandomStream random(2024, static_cast<std::uint64_t>(number));
  constexpr int kRuns = 40;
  Eigen::MatrixXd coded(kRuns, 3);
  Eigen::VectorXd y(kRuns), weights = Eigen::VectorXd::Ones(kRuns);
  std::vector<int> blocks(blocked ? kRuns : 0);
  for (int i = 0; i < kRuns; ++i) {
    coded.row(i) << 2 * random.uniform() - 1, 2 * random.uniform() - 1,
        static_cast<double>(random.below(3));
    y[i] = 50 + 8 * coded(i, 0) - 3 * std::pow(coded(i, 1), 2) + 2 * coded(i, 2) +
           4 * random.uniform();
    if (weighted) weights[i] = 0.2 + 3 * random.uniform();
    if (blocked) blocks[static_cast<std::size_t>(i)] = static_cast<int>(random.below(3));
  }
  surfaces::FitOptions options{.blocks = blocks};
  if (weighted) options.weights = weights;
  const surfaces::Fit fit = surfaces::fit_least_squares(model, coded, y, options);

  std::vector<double> estimates, errors, t, p, sums;
  for (const surfaces::Coefficient& row : fit.coefficients) {
    estimates.push_back(row.estimate);
    errors.push_back(*row.std_error);
    t.push_back(*row.t);
    p.push_back(*row.p);
  }
  for (const surfaces::AnovaRow& row : fit.anova) {
    if (row.source != "model" && row.source != "total") sums.push_back(row.sum_of_squares);
  }
  const Eigen::Vector3d at(0.3, -0.7, 1);
  const surfaces::Prediction next = fit.predict(at);
  const std::vector<double> predicted{
      next.mean, next.confidence_interval()->low, next.confidence_interval()->high,
      next.prediction_interval()->low, next.prediction_interval()->high};
  const std::vector<double> whole{*fit.sigma, fit.r2, *fit.adjusted_r2};
  fmt::print(
      "cases[[{}]] <- list(formula='{}', columns={}, a={}, b={}, w={}, y={}, weights={}, "
      "blocks=c({}), estimates={}, errors={}, t={}, p={}, sums={}, predicted={}, "
      "leverage={}, studentised={}, whole={})\n",
      number + 1, formula(model), fit.coefficients.size(), vector_of(coded.col(0)),
      vector_of(coded.col(1)), vector_of(coded.col(2)), vector_of(y), vector_of(weights),
      fmt::join(blocks, ","), vector_of(estimates), vector_of(errors), vector_of(t), vector_of(p),
      vector_of(sums), vector_of(predicted), vector_of(fit.leverage),
      vector_of(fit.studentised_residuals), vector_of(whole));
}

/// Saturation at three levels that differ a hundredfold, with proportional errors.
void print_parametric_model(const surfaces::Transform& transform) {
  const std::vector<doe::Factor> factors{continuous("x", 1, 32), words("w", {"x", "y", "z"})};
  RandomStream random(2025, 0);
  Eigen::MatrixXd coded(36, 2);
  Eigen::VectorXd x(36), y(36);
  for (int i = 0; i < 36; ++i) {
    const int level = i % 3;
    x[i] = std::exp2(i / 3 % 6);
    coded.row(i) << factors[0].to_coded(x[i]), level;
    y[i] = std::pow(10, level) * x[i] / (2 + level + x[i]) * (0.95 + 0.1 * random.uniform());
  }
  const surfaces::ParametricFit fit = surfaces::fit_parametric_model(
      surfaces::parametric_model_named("saturation"), factors, "x", coded, y, "w", transform);
  std::vector<double> m, h, m_errors, h_errors;
  for (const surfaces::ParameterEstimate& row : fit.estimates) {
    (row.name == "m" ? m : h).push_back(row.estimate);
    (row.name == "m" ? m_errors : h_errors).push_back(*row.std_error);
  }
  fmt::print(
      "laws[[length(laws) + 1]] <- list(transform='{}', x={}, y={}, level={}, m={}, h={}, "
      "m_errors={}, h_errors={}, sigma={:.17g})\n",
      surfaces::transform_name(transform), vector_of(x), vector_of(y), vector_of(coded.col(1)),
      vector_of(m), vector_of(h), vector_of(m_errors), vector_of(h_errors), *fit.sigma);
}

}  // namespace

int main() {
  fmt::print("cases <- list()\nlaws <- list()\n");
  for (int number = 0; number < 10; ++number) print_case(number);
  using surfaces::Transform;
  for (const Transform& transform :
       {Transform::kNone, Transform::kLog, Transform::kSqrt, Transform::kInverse}) {
    print_parametric_model(transform);
  }
}
