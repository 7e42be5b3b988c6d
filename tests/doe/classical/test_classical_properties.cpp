#include <catch2/catch.hpp>
#include <memory>

#include "base/random.h"
#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::Factor random_factor(const std::string& name, int max_levels, RandomStream& random) {
  switch (random.below(4)) {
    case 0:
      return continuous(name, -3, static_cast<double>(random.below(50)));
    case 1:
      return whole(name, 1, static_cast<double>(2 + random.below(30)));
    case 2:
      return powers_of_two(name, random.below(2) == 0 ? std::vector<double>{1, 2, 8}
                                                      : std::vector<double>{1, 2, 4, 8, 16, 32});
    default:
      return words(name, random.below(2) == 0 || max_levels < 3
                             ? std::vector<std::string>{"x", "y"}
                             : std::vector<std::string>{"x", "y", "z"});
  }
}

/// Numeric factors a, b and c, random further ones, and a constraint that some runs violate.
doe::DesignRequest random_request(std::uint64_t seed, int max_levels) {
  RandomStream random(2026, seed);
  std::vector<doe::Factor> factors{continuous("a", 0, 10), whole("b", 1, 16),
                                   powers_of_two("c", {1, 2, 4, 8, 16})};
  const int more = static_cast<int>(random.below(4));
  for (int f = 0; f < more; ++f) {
    factors.push_back(random_factor("f" + std::to_string(f), max_levels, random));
  }
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) names.push_back(factor.name);
  const auto constraint = std::make_shared<const doe::Expression>("a + b + c <= 35", names);
  doe::DesignRequest request = request_of(factors, random.below(2) == 0 ? "linear" : "quadratic");
  request.region = doe::Region(factors, {constraint}, {});
  return request;
}

bool is_surface(std::string_view type) {
  return type == "ccd" || type == "fccd" || type == "box-behnken" || type == "full-factorial";
}

}  // namespace

TEST_CASE("Every point of every classical design is allowed and usable", "[doe][classical]") {
  for (const std::string type : {"full-factorial", "fractional-factorial", "plackett-burman",
                                 "definitive-screening", "box-behnken", "ccd", "fccd"}) {
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      const doe::DesignRequest request = random_request(seed, is_surface(type) ? 3 : 2);
      INFO(type << ", seed " << seed);
      const doe::Design design = doe::build_design(type, request);
      for (const doe::DesignPoint& point : design.points) {
        const std::vector<double> natural = doe::natural_settings(request.factors, point.coded);
        bool usable = true;
        for (std::size_t f = 0; f < natural.size(); ++f) {
          usable = usable && request.factors[f].allows(natural[f]);
        }
        REQUIRE(usable);
        REQUIRE(request.region.allows(natural));
      }
      const Eigen::MatrixXd again = doe::build_design(type, request).coded();
      REQUIRE(design.coded() == again);
    }
  }
}

TEST_CASE("A factor with one setting is refused by name", "[doe][classical]") {
  for (const std::string type : {"full-factorial", "fractional-factorial", "plackett-burman",
                                 "definitive-screening", "box-behnken", "ccd"}) {
    std::vector<doe::Factor> factors = letters(3);
    factors.push_back(powers_of_two("lonely", {4}));
    CHECK_THROWS_WITH(doe::build_design(type, request_of(factors)),
                      Catch::Contains("'lonely' has only one setting"));
  }
}
