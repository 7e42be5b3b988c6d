#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "doe/classical/fold_over.h"
#include "doe/classical/fraction_notes.h"
#include "doe/classical/regular_fraction.h"
#include "doe/evaluation.h"
#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;
using Lengths = std::vector<std::int64_t>;

namespace {

std::vector<doe::Effect> main_effects(int k) { return doe::two_level_effects(doe::Model(), k); }

/// Word lengths (A3, A4, ...) of the fraction found.
Lengths found(int k, int basic, std::size_t size) {
  const Lengths all = doe::minimum_aberration(k, basic, main_effects(k))->word_lengths(k);
  CHECK(all[1] == 0);
  CHECK(all[2] == 0);
  return {all.begin() + 3, all.begin() + 3 + static_cast<std::ptrdiff_t>(size)};
}

doe::Design fraction(const doe::DesignRequest& request) {
  return doe::build_design("fractional-factorial", request);
}

}  // namespace

TEST_CASE("Fractions have the published minimum-aberration word lengths", "[doe][classical]") {
  // Chen, Sun & Wu (1993), tables of 8, 16, 32 and 64 runs; Box, Hunter & Hunter (2005), ch. 6.
  struct Published {
    int factors, basic;
    Lengths lengths;  // from A3
  };
  const std::vector<Published> table{
      {3, 2, {1}},
      {4, 3, {0, 1}},
      {5, 3, {2, 1, 0}},
      {6, 3, {4, 3, 0, 0}},
      {7, 3, {7, 7, 0, 0, 1}},
      {5, 4, {0, 0, 1}},
      {6, 4, {0, 3, 0, 0}},
      {7, 4, {0, 7, 0, 0, 0}},
      {8, 4, {0, 14, 0, 0, 0, 1}},
      {9, 4, {4, 14, 8, 0}},
      {10, 4, {8, 18, 16, 8}},
      {11, 4, {12, 26, 28, 24}},
      {12, 4, {16, 39, 48, 48}},
      {15, 4, {35, 105, 168, 280}},
      {6, 5, {0, 0, 0, 1}},
      {7, 5, {0, 1, 2, 0, 0}},
      {8, 5, {0, 3, 4, 0, 0}},
      {9, 5, {0, 6, 8, 0, 0, 1}},
      {10, 5, {0, 10, 16, 0, 0, 5}},
      {11, 5, {0, 25, 0, 27}},
      {12, 5, {0, 38, 0, 52}},
      {13, 5, {0, 55, 0, 96}},
      {16, 5, {0, 140, 0, 448}},
      {7, 6, {0, 0, 0, 0, 1}},
      {8, 6, {0, 0, 2, 1, 0}},
      {9, 6, {0, 1, 4, 2, 0}},
      {10, 6, {0, 2, 8, 4, 0, 1}},
      {11, 6, {0, 4, 14, 8, 0}},
      {12, 6, {0, 6, 24, 16, 0}},
      {13, 6, {0, 14, 28, 24, 24}},
      {14, 6, {0, 22, 40, 36, 56}},
      {15, 6, {0, 30, 60, 60, 105}},
      {16, 6, {0, 43, 81, 96, 189}},
      {17, 6, {0, 59, 108, 150, 324}},
      {9, 7, {0, 0, 0, 3}},
      {11, 7, {0, 0, 6, 6, 2}},
  };
  for (const auto& [factors, basic, lengths] : table) {
    INFO(factors << " factors in 2^" << basic << " runs");
    CHECK(found(factors, basic, lengths.size()) == lengths);
  }
}

TEST_CASE("A code of record distance is found as a fraction", "[doe][classical]") {
  // The dual of the quadratic-residue code [17, 9, 5] (MacWilliams & Sloane 1977): resolution V of
  // 17 factors in 256 runs.
  CHECK(doe::minimum_aberration(17, 8, main_effects(17))->resolution() == 5);
  CHECK_FALSE(doe::minimum_aberration(4, 2, main_effects(4)));
}

TEST_CASE("Counts of words agree with the words themselves", "[doe][classical]") {
  const doe::RegularFraction design = *doe::minimum_aberration(8, 5, main_effects(8));
  Lengths counted(9, 0);
  for (unsigned set = 0; set < 1U << 8; ++set) {
    doe::Effect effect;
    for (int f = 0; f < 8; ++f) {
      if ((set >> f & 1U) != 0) effect.push_back(f);
    }
    if (design.column(effect) == 0) ++counted[effect.size()];
  }
  CHECK(design.word_lengths(8) == counted);
}

TEST_CASE("Fractions are orthogonal and have the runs asked for", "[doe][classical]") {
  for (const int k : {2, 5, 8, 13, 31, 50}) {
    doe::DesignRequest request = request_of(letters(k), "linear");
    const Eigen::MatrixXd smallest = fraction(request).coded();
    CHECK(smallest.rows() == static_cast<int>(std::bit_ceil(static_cast<unsigned>(k) + 1)));
    CHECK(Eigen::MatrixXd(smallest.transpose() * smallest).isDiagonal());
    request.options.runs = 2 * static_cast<int>(smallest.rows());
    if (k < 3) continue;
    const Eigen::MatrixXd asked = fraction(request).coded();
    CHECK(asked.rows() == 2 * smallest.rows());
    CHECK(Eigen::MatrixXd(asked.transpose() * asked).isDiagonal());
  }
}

TEST_CASE("The smallest fraction determines the model", "[doe][classical]") {
  // All interactions need resolution V: 16 runs for 5 factors, 32 for 6, 64 for 7 and 8 (Box,
  // Hunter & Hunter 2005, ch. 6), 128 for 9 to 11.
  for (const auto& [k, runs] : {std::pair{4, 16}, {5, 16}, {6, 32}, {7, 64}, {8, 64}, {11, 128}}) {
    const doe::Design design = fraction(request_of(letters(k), "interactions"));
    CHECK(static_cast<int>(design.points.size()) == runs);
  }
  // a*b, c*d and e*f among six factors: ten coefficients fit into 16 runs, whereas resolution V
  // needs 32 and the standard fraction of 16 runs has a*b = c*d.
  doe::DesignRequest some = request_of(letters(6));
  some.model =
      doe::Model::parse({"1", "a", "b", "c", "d", "e", "f", "a*b", "c*d", "e*f"}, some.factors);
  const doe::Design design = fraction(some);
  CHECK(design.points.size() == 16);
  CHECK(doe::evaluate(some.model, design.coded()).d_efficiency.value() == Approx(100));
}

TEST_CASE("A resolution asked for is reached", "[doe][classical]") {
  for (const auto& [k, resolution, runs] :
       {std::tuple{7, 3, 8}, {7, 4, 16}, {8, 5, 64}, {8, 4, 16}, {9, 6, 128}, {5, 6, 32}}) {
    doe::DesignRequest request = request_of(letters(k), "linear");
    request.options.resolution = resolution;
    CHECK(static_cast<int>(fraction(request).points.size()) == runs);
  }
}

TEST_CASE("Generators are read with their signs", "[doe][classical]") {
  doe::DesignRequest request = request_of(letters(5));
  request.options.generators = {"d = -a*b", "e = a * c"};
  const doe::Design design = fraction(request);
  const Eigen::MatrixXd x = design.coded();
  REQUIRE(x.rows() == 8);
  CHECK(x.col(3) == -x.col(0).cwiseProduct(x.col(1)));
  CHECK(x.col(4) == x.col(0).cwiseProduct(x.col(2)));
  // NIST/SEMATECH e-Handbook 5.3.3.4.4 for 2^(5-2), with the sign of d reversed.
  CHECK_THAT(notes_of(design), Catch::Contains("resolution III") &&
                                   Catch::Contains("generators: d = -a*b; e = a*c") &&
                                   Catch::Contains("a = -b*d = c*e; b = -a*d; c = a*e"));

  const auto error = [&](std::vector<std::string> generators) {
    request.options.generators = std::move(generators);
    return [&] { fraction(request); };
  };
  CHECK_THROWS_WITH(error({"d"})(), Catch::Contains("expected an equation"));
  CHECK_THROWS_WITH(error({"d = a*q"})(), Catch::Contains("there is no factor 'q'"));
  CHECK_THROWS_WITH(error({"d = a*b", "d = b*c"})(), Catch::Contains("already has one"));
  CHECK_THROWS_WITH(error({"d = a*b", "e = d*c"})(), Catch::Contains("has a generator itself"));
  CHECK_THROWS_WITH(error({"d = a*b", "e = a*b"})(), Catch::Contains("confound 'e' with 'd'"));
  CHECK_THROWS_WITH(error({"d = a*a"})(), Catch::Contains("keep 'd' constant"));
}

TEST_CASE("Alias sets are those of the runs", "[doe][classical]") {
  // 2^(4-1), D = ABC: every two-factor interaction is aliased with one other.
  doe::DesignRequest request = request_of(letters(4));
  request.options.runs = 8;
  CHECK_THAT(notes_of(fraction(request)),
             Catch::Contains("resolution IV") &&
                 Catch::Contains("aliases: a*b = c*d; a*c = b*d; a*d = b*c"));
  request = request_of(letters(5));
  request.options.runs = 16;
  CHECK_THAT(notes_of(fraction(request)), Catch::Contains("aliases: none"));
}

TEST_CASE("Alias sets list every shared column of the runs once", "[doe][classical]") {
  const doe::RegularFraction design = *doe::minimum_aberration(9, 4, main_effects(9));
  const Eigen::MatrixXd x = design.runs();
  std::map<std::vector<double>, int> members;  // number of effects per column over the runs
  for (int a = 0; a < 9; ++a) {
    Eigen::VectorXd column = x.col(a);
    ++members[{column.begin(), column.end()}];
    for (int b = a + 1; b < 9; ++b) {
      column = x.col(a).cwiseProduct(x.col(b));
      ++members[{column.begin(), column.end()}];
    }
  }
  std::multiset<int> sizes;
  for (const auto& [column, size] : members) {
    if (size > 1) sizes.insert(size);
  }
  std::multiset<int> listed;
  for (const std::string& set : doe::alias_sets(design, letters(9))) {
    listed.insert(1 + static_cast<int>(std::count(set.begin(), set.end(), '=')));
  }
  CHECK(listed == sizes);
}

TEST_CASE("Blocks are orthogonal to main effects, and to the model where they can be",
          "[doe][classical]") {
  for (const auto& [k, blocks] : {std::pair{3, 2}, {5, 4}, {6, 2}, {6, 4}, {8, 8}}) {
    INFO(k << " factors in " << blocks << " blocks");
    doe::DesignRequest request = request_of(letters(k), "interactions");
    request.options.blocks = blocks;
    const doe::Design design = fraction(request);
    CHECK(block_count(design) == blocks);
    CHECK(block_imbalance(design, request.model) == 0);
    CHECK_THAT(notes_of(design), Catch::Contains("blocks are confounded with"));
  }
  // 2^3 in two blocks: confounded with the highest-order interaction, a*b*c.
  doe::DesignRequest request = request_of(letters(3), "linear");
  request.options.runs = 8;
  request.options.blocks = 2;
  CHECK_THAT(notes_of(fraction(request)), Catch::Contains("confounded with a*b*c"));
  request.options.blocks = 4;  // some two-factor interactions, but no main effect
  CHECK_THAT(notes_of(fraction(request)), Catch::Contains("confounded with a*b; a*c; b*c"));
  CHECK(block_imbalance(fraction(request), request.model) == 0);
  request.options.blocks = 8;
  CHECK_THROWS_WITH(fraction(request), Catch::Contains("confound main effects"));
  request.options.blocks = 3;
  CHECK_THROWS_WITH(fraction(request), Catch::Contains("3 is not a power of two"));
}

TEST_CASE("Fractions that cannot be are refused with what would do", "[doe][classical]") {
  doe::DesignRequest request = request_of(letters(5), "linear");
  const auto with_runs = [&](int runs) {
    request.options.runs = runs;
    return [&] { fraction(request); };
  };
  CHECK_THROWS_WITH(with_runs(12)(), Catch::Contains("use runs: 8 or 16"));
  CHECK_THROWS_WITH(with_runs(4)(), Catch::Contains("at least 8"));
  CHECK_THROWS_WITH(with_runs(64)(), Catch::Contains("32 of the full factorial"));
  request.options.center_runs = 4;
  CHECK_THROWS_WITH(with_runs(16)(), Catch::Contains("12 is not; use runs: 12 or 20"));
  CHECK_NOTHROW(with_runs(20)());
  request.options.resolution = 4;
  CHECK_THROWS_WITH(fraction(request), Catch::Contains("one of runs, resolution and generators"));
  request.options.runs.reset();
  request.options.resolution = 2;
  CHECK_THROWS_WITH(fraction(request), Catch::Contains("at least 3"));
  CHECK_THROWS_WITH(fraction(request_of({words("w", {"x", "y", "z"}), continuous("a")})),
                    Catch::Contains("'w' has 3"));
  CHECK(fraction(request_of({continuous("a")})).points.size() == 2);
  CHECK_THROWS_WITH(fraction(request_of({})), Catch::Contains("at least 1 factor"));
  doe::DesignRequest wide = request_of(letters(50));
  wide.options.generators = {"d = a*b"};
  CHECK_THROWS_WITH(fraction(wide), Catch::Contains("leave 2^49 runs"));
}

TEST_CASE("Folding over separates what resolution III confounds", "[doe][classical]") {
  // Box, Hunter & Hunter (2005), 6.10: 2^(7-4) and its fold-over are a 2^(7-3) of resolution IV.
  doe::DesignRequest request = request_of(letters(7));
  request.options.runs = 8;
  const Eigen::MatrixXd first = fraction(request).coded();
  Eigen::MatrixXd both(16, 7);
  both << first, doe::fold_over(first, request.factors);
  const Eigen::MatrixXd pairs =
      doe::Model::named("interactions", request.factors).matrix(both).rightCols(21);
  CHECK((both.transpose() * pairs).isZero());
  CHECK_FALSE((first.transpose() * pairs.topRows(8)).isZero());

  // One factor: its main effect and its interactions are clear of all others.
  both << first, doe::fold_over(first, request.factors, 0);
  const Eigen::MatrixXd with_a =
      doe::Model::named("interactions", request.factors).matrix(both).middleCols(8, 6);
  CHECK((both.transpose() * with_a).isZero());

  const std::vector<doe::Factor> mixed{words("w", {"x", "y"}), continuous("a")};
  const Eigen::MatrixXd runs = (Eigen::MatrixXd(2, 2) << 0, 0.5, 1, -1).finished();
  CHECK(doe::fold_over(runs, mixed) == (Eigen::MatrixXd(2, 2) << 1, -0.5, 0, 1).finished());
  CHECK(doe::fold_over(runs, mixed, 1) == (Eigen::MatrixXd(2, 2) << 0, -0.5, 1, 1).finished());
  CHECK_THROWS_WITH(doe::fold_over(runs, {words("w", {"x", "y", "z"}), continuous("a")}),
                    Catch::Contains("'w' has 3"));
}
