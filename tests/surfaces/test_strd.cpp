#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "surfaces/fit.h"
#include "tests/doe/factors.h"
#include "tests/surfaces/certified_regressions.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Fit;

namespace {

/// The powers of a single factor, or 1 and each factor.
std::vector<doe::Term> terms_of(const CertifiedRegression& data) {
  std::vector<doe::Term> terms;
  const int first = data.terms.front() == "1" ? 0 : 1;
  for (std::size_t c = 0; c < data.terms.size(); ++c) {
    std::vector<int> powers(data.x.size(), 0);
    if (data.x.size() == 1) powers[0] = first + static_cast<int>(c);
    if (data.x.size() > 1 && c > 0) powers[c - 1] = 1;
    terms.push_back({std::move(powers)});
  }
  return terms;
}

/// Each factor has the range of its column; without the term 1, coded units must be a multiple of
/// natural ones, so the range is symmetric about 0.
Fit fit_of(const CertifiedRegression& data) {
  std::vector<doe::Factor> factors;
  const auto n = static_cast<Eigen::Index>(data.y.size());
  Eigen::MatrixXd settings(n, data.x.size()), coded(n, data.x.size());
  for (std::size_t f = 0; f < data.x.size(); ++f) {
    const auto [low, high] = std::minmax_element(data.x[f].begin(), data.x[f].end());
    const std::string name = data.x.size() == 1 ? "x" : "x" + std::to_string(f + 1);
    const bool intercept = data.terms.front() == "1";
    factors.push_back(continuous(name, intercept ? *low : -*high, *high));
    for (Eigen::Index i = 0; i < n; ++i) {
      settings(i, static_cast<Eigen::Index>(f)) = data.x[f][static_cast<std::size_t>(i)];
      coded(i, static_cast<Eigen::Index>(f)) = factors[f].to_coded(data.x[f][i]);
    }
  }
  const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(data.y.data(), n);
  return surfaces::fit_least_squares(doe::Model(factors, terms_of(data)), coded, y,
                                     {.settings = settings});
}

/// The number of digits that agree, at most the certified 15.
double digits(double value, double certified) {
  if (value == certified) return 15;
  return std::min(15.0, -std::log10(std::abs(value - certified) / std::abs(certified)));
}

const surfaces::AnovaRow& certified_row(const Fit& fit, const std::string& source) {
  return *std::find_if(fit.anova.begin(), fit.anova.end(),
                       [&](const surfaces::AnovaRow& row) { return row.source == source; });
}

}  // namespace

TEST_CASE("Every StRD linear regression agrees with its certified digits", "[surfaces][strd]") {
  for (const CertifiedRegression& data : certified_regressions()) {
    INFO(data.name);
    const Fit fit = fit_of(data);
    REQUIRE(fit.natural_coefficients.size() == data.terms.size());
    for (std::size_t c = 0; c < data.terms.size(); ++c) {
      const surfaces::NaturalCoefficient& found = fit.natural_coefficients[c];
      INFO(found.term);
      CHECK(found.term == data.terms[c]);
      CHECK(digits(found.estimate, data.estimates[c]) >= 13);
      if (data.f == 0) {
        CHECK(*found.std_error == 0);
      } else {
        CHECK(digits(*found.std_error, data.errors[c]) >= 13);
      }
    }
    CHECK(digits(fit.r2, data.r2) >= 13);
    const surfaces::AnovaRow& model = certified_row(fit, "model");
    const surfaces::AnovaRow& residual = certified_row(fit, "residual");
    CHECK(digits(model.sum_of_squares, data.model_sum_of_squares) >= 13);
    CHECK(model.df + residual.df == certified_row(fit, "total").df);
    if (data.f == 0) {
      CHECK(*fit.sigma == 0);
      continue;
    }
    CHECK(digits(*fit.sigma, data.sigma) >= 13);
    CHECK(digits(residual.sum_of_squares, data.residual_sum_of_squares) >= 13);
    CHECK(digits(*model.f, data.f) >= 13);
  }
}
