#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "doe/classical/finite_field.h"
#include "doe/design.h"
#include "doe/optimal/orthogonal_array.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

/// Whether all pairs of levels are equally frequent in every two columns, and all levels in each.
bool has_strength_two(const Eigen::MatrixXd& x, int s) {
  const int n = static_cast<int>(x.rows());
  for (Eigen::Index a = 0; a < x.cols(); ++a) {
    Eigen::VectorXi once = Eigen::VectorXi::Zero(s);
    for (int i = 0; i < n; ++i) ++once[static_cast<int>(x(i, a))];
    if ((once.array() * s != n).any()) return false;
    for (Eigen::Index b = 0; b < a; ++b) {
      Eigen::VectorXi pairs = Eigen::VectorXi::Zero(s * s);
      for (int i = 0; i < n; ++i) ++pairs[static_cast<int>(x(i, a) * s + x(i, b))];
      if ((pairs.array() * s * s != n).any()) return false;
    }
  }
  return true;
}

std::optional<doe::OrthogonalArray> array(int k, int s, int n) {
  RandomStream random(1, 1);
  auto found = doe::orthogonal_array(k, s, n, random);
  return found && found->levels.rows() == n ? found : std::nullopt;
}

/// The maximum number of s-level factors for which an array of n runs is available.
int max_factors(int s, int n) {
  int k = 0;
  while (array(k + 1, s, n)) ++k;
  return k;
}

doe::DesignRequest main_effects(int k, int s, int n) {
  doe::DesignRequest request;
  std::vector<std::string> levels;
  for (int level = 0; level < s; ++level) levels.emplace_back(1, static_cast<char>('a' + level));
  for (int f = 0; f < k; ++f) request.factors.push_back(words("x" + std::to_string(f), levels));
  request.region = doe::Region(request.factors, {}, {});
  request.model = doe::Model::named("linear", request.factors);
  request.options.runs = n;
  request.options.starts = 2;
  request.seed = 1;
  return request;
}

/// |X'X|^(1/p) as a fraction of that of a balanced orthogonal design: n and, for a factor, |n/s (I
/// + J)| = (n/s)^(s-1) s.
double share_of_orthogonal(const doe::DesignRequest& request, const doe::Design& design) {
  const Eigen::MatrixXd x = request.model.matrix(design.coded());
  const double n = static_cast<double>(x.rows()), k = static_cast<double>(request.factors.size());
  const double s = static_cast<double>(request.factors.front().level_names.size());
  const double best = std::log(n) + k * ((s - 1) * std::log(n / s) + std::log(s));
  const Eigen::LLT<Eigen::MatrixXd> factor(x.transpose() * x);
  const double found = 2 * factor.matrixLLT().diagonal().array().log().sum();
  return std::exp((found - best) / static_cast<double>(x.cols()));
}

}  // namespace

TEST_CASE("A finite field is a field", "[doe][optimal]") {
  for (const int q : {2, 3, 4, 5, 8, 9, 27}) {
    INFO(q);
    const doe::FiniteField field(q);
    for (int a = 0; a < q; ++a) {
      CHECK(field.sum(a, field.difference(0, a)) == 0);
      CHECK(field.product(a, 1) == a);
      for (int b = 0; b < q; ++b) {
        if (b != 0) CHECK(field.product(field.quotient(a, b), b) == a);
        const int c = (3 * a + b) % q;
        CHECK(field.product(field.sum(a, b), c) ==
              field.sum(field.product(a, c), field.product(b, c)));
      }
    }
  }
}

TEST_CASE("Every array that is offered has strength two", "[doe][optimal]") {
  for (const int s : {2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    for (int n = s; n <= 200; n += s) {
      const int most = max_factors(s, n);
      INFO(s << " levels, " << n << " runs, " << most << " factors");
      // Rao (1947): n >= 1 + k (s - 1).
      CHECK(most * (s - 1) + 1 <= n);
      CHECK(most >= (n % (s * s) == 0 ? 2 : 1));
      for (const int k : {most, (most + 1) / 2}) CHECK(has_strength_two(array(k, s, n)->levels, s));
    }
  }
  CHECK_FALSE(array(2, 3, 12));
  RandomStream random(1, 1);
  CHECK(doe::orthogonal_array(7, 3, 26, random)->levels.rows() == 18);
  CHECK_FALSE(array(5, 6, 36));
}

TEST_CASE("Arrays have the factors that their sources give them", "[doe][optimal]") {
  // Rao (1947): (n - 1) / (s - 1). Addelman & Kempthorne (1961): 2 (n/2 - 1) / (s - 1) - 1.
  CHECK(max_factors(3, 9) == 4);
  CHECK(max_factors(3, 27) == 13);
  CHECK(max_factors(4, 64) == 21);
  CHECK(max_factors(5, 125) == 31);
  CHECK(max_factors(9, 81) == 10);
  CHECK(max_factors(3, 18) == 7);
  CHECK(max_factors(3, 54) == 25);
  CHECK(max_factors(5, 50) == 11);
  CHECK(max_factors(7, 98) == 15);
  CHECK(max_factors(9, 162) == 19);
  // Bose & Bush (1952): 4 levels in 32 runs, 8 in 128; Plackett & Burman (1946).
  CHECK(max_factors(4, 32) == 9);
  CHECK(max_factors(8, 128) == 17);
  CHECK(max_factors(2, 12) == 11);
  CHECK(max_factors(6, 36) == 3);
  // Stacked arrays: 25 + 50.
  CHECK(max_factors(5, 75) == 6);
}

TEST_CASE("Main effects of categorical factors reach the orthogonal design", "[doe][optimal]") {
  struct Case {
    int factors, levels, runs;
  };
  for (const auto& [k, s, n] : {Case{8, 5, 400}, {7, 3, 18}, {13, 3, 27}, {3, 6, 72}}) {
    for (const char* type : {"d-optimal", "i-optimal"}) {
      INFO(type << ", " << n << " runs");
      const doe::DesignRequest request = main_effects(k, s, n);
      const doe::Design design = doe::build_design(type, request);
      CHECK(share_of_orthogonal(request, design) == Approx(1).epsilon(1e-9));
      REQUIRE(design.search->bound);
      CHECK(design.search->best == Approx(*design.search->bound).epsilon(1e-6));
      CHECK(design.search->starts == 1);
      CHECK_FALSE(design.notes.empty());
    }
  }
}

TEST_CASE("An array with a few runs more is a good start", "[doe][optimal]") {
  // In two seconds random starts alone reach 96.0 % and 93.9 % of a (nonexistent) orthogonal
  // design.
  doe::DesignRequest request = main_effects(8, 5, 52);
  request.options.starts = 32;
  CHECK(share_of_orthogonal(request, doe::build_design("d-optimal", request)) > 0.991);
  request = main_effects(13, 3, 30);
  request.options.starts = 32;
  CHECK(share_of_orthogonal(request, doe::build_design("d-optimal", request)) > 0.97);
}

TEST_CASE("Where no array exists, categorical factors are searched as before", "[doe][optimal]") {
  doe::DesignRequest request = main_effects(3, 3, 10);
  CHECK(doe::build_design("d-optimal", request).search->starts == 2);
  request = main_effects(3, 3, 9);
  CHECK(doe::build_design("a-optimal", request).search->starts == 2);
  request.model = doe::Model::named("interactions", request.factors);
  request.options.runs = 27;
  CHECK(doe::build_design("d-optimal", request).search->starts == 2);
}
