// The designs proposed to studies that name none: every kind determines its model, in few runs.
#include <catch2/catch.hpp>

#include "doe/evaluation.h"
#include "doe/proposed_design.h"
#include "tests/doe/factors.h"

using namespace doetune;

namespace {

doe::Factor with_levels(const std::string& name, std::vector<double> levels) {
  doe::Factor factor;
  factor.name = name;
  factor.kind = doe::FactorKind::kDiscrete;
  factor.low = levels.front();
  factor.high = levels.back();
  factor.levels = std::move(levels);
  return factor;
}

std::vector<doe::Factor> numeric(int count) { return tests::unit_factors(count); }

std::vector<doe::Factor> two_level(int count) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < count; ++f) factors.push_back(with_levels("f" + std::to_string(f), {1, 2}));
  return factors;
}

struct Case {
  const char* what;
  std::vector<doe::Factor> factors;
  const char* type;
  const char* model;
  int runs;
};

}  // namespace

TEST_CASE("A proposed design determines its model in as many runs as it says", "[doe][proposed]") {
  const std::vector<std::string> three{"x", "y", "z"}, two{"on", "off"};
  const auto c = [](const char* name, const std::vector<std::string>& levels) {
    return tests::words(name, levels);
  };
  const std::vector<Case> cases{
      {"one numeric", numeric(1), "fccd", "quadratic", 10},
      {"two numeric", numeric(2), "fccd", "quadratic", 14},
      {"three numeric", numeric(3), "fccd", "quadratic", 20},
      {"four numeric", numeric(4), "i-optimal", "quadratic", 20},
      {"eight numeric", numeric(8), "definitive-screening", "pure-quadratic", 20},
      {"nine numeric", numeric(9), "definitive-screening", "pure-quadratic", 24},
      {"one of two levels", two_level(1), "full-factorial", "linear", 4},
      {"two of two levels", two_level(2), "full-factorial", "interactions", 8},
      {"three of two levels", two_level(3), "full-factorial", "interactions", 8},
      {"five of two levels", two_level(5), "d-optimal", "interactions", 21},
      {"seven of two levels", two_level(7), "fractional-factorial", "linear", 16},
      {"one categorical", {c("w", three)}, "full-factorial", "linear", 6},
      {"two categorical", {c("v", three), c("w", three)}, "full-factorial", "linear", 9},
      {"four categorical",
       {c("u", three), c("v", three), c("w", three), c("x", two)},
       "d-optimal",
       "linear",
       13},
      {"mixed", {numeric(2)[0], numeric(2)[1], c("w", three)}, "i-optimal", "quadratic", 17},
  };
  for (const Case& given : cases) {
    CAPTURE(given.what);
    const doe::ProposedDesign proposed = doe::propose_design(given.factors, {});
    CHECK(proposed.type == given.type);
    CHECK(proposed.model == given.model);
    CHECK(proposed.runs == given.runs);
    CHECK_FALSE(proposed.next_better.empty());
    doe::DesignRequest request;
    request.factors = given.factors;
    request.model = doe::Model::named(proposed.model, given.factors);
    request.options = proposed.options;
    request.options.starts = 5;
    if (!proposed.type.ends_with("optimal")) request.options.starts.reset();
    request.seed = 1;
    const doe::Design design = doe::build_design(proposed.type, request);
    CHECK(static_cast<int>(design.points.size()) == given.runs);
    CHECK(doe::evaluate(request.model, design.coded()).d_efficiency);
    for (const doe::DesignPoint& point : design.points) {
      const auto settings = doe::natural_settings(given.factors, point.coded);
      for (std::size_t f = 0; f < settings.size(); ++f) {
        CHECK(given.factors[f].snap(settings[f]) == settings[f]);
      }
    }
  }
}

TEST_CASE("A proposal names the next better design with its runs", "[doe][proposed]") {
  CHECK(doe::propose_design(numeric(8), {}).next_better ==
        "design: {type: i-optimal, runs: 50} and model: quadratic, 50 runs");
  CHECK(doe::propose_design(numeric(4), {}).next_better == "design: {type: fccd}, 30 runs");
  CHECK(doe::propose_design(two_level(3), {}).next_better ==
        "design: {type: full-factorial, replicates: 2}, 16 runs");
}

TEST_CASE("Factors that are hard to change are proposed whole plots", "[doe][proposed]") {
  std::vector<doe::Factor> factors = numeric(2);
  factors[0].hard_to_change = true;
  CHECK(doe::propose_design(factors, {}).type == "i-optimal");
}
