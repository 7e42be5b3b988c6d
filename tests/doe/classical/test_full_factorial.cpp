#include <catch2/catch.hpp>
#include <set>

#include "tests/doe/classical/requests.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::Design full(const doe::DesignRequest& request) {
  return doe::build_design("full-factorial", request);
}

}  // namespace

TEST_CASE("A full factorial runs every combination once", "[doe][classical]") {
  std::vector<doe::Factor> factors{continuous("a"), whole("n", 1, 2), whole("m", 1, 9),
                                   powers_of_two("b", {1, 2, 4, 8}), words("w", {"x", "y", "z"})};
  for (const auto& [model, runs] :
       {std::pair{"linear", 2 * 2 * 2 * 4 * 3}, {"quadratic", 3 * 2 * 3 * 4 * 3}}) {
    const doe::Design design = full(request_of(factors, model));
    CHECK(static_cast<int>(design.points.size()) == runs);
    std::set<std::vector<double>> distinct;
    for (const doe::DesignPoint& point : design.points) {
      distinct.insert(doe::natural_settings(factors, point.coded));
    }
    CHECK(static_cast<int>(distinct.size()) == runs);
  }
}

TEST_CASE("Levels of a full factorial are equally spaced and usable", "[doe][classical]") {
  doe::DesignRequest request = request_of({continuous("a", 0, 8), whole("n", 1, 3)});
  request.options.levels = 5;
  request.options.center_runs = 2;
  std::set<double> a;
  std::set<double> n;
  const doe::Design design = full(request);
  for (const doe::DesignPoint& point : design.points) {
    a.insert(doe::natural_settings(request.factors, point.coded)[0]);
    n.insert(doe::natural_settings(request.factors, point.coded)[1]);
  }
  CHECK(a == std::set<double>{0, 2, 4, 6, 8});
  CHECK(n == std::set<double>{1, 2, 3});  // the integer factor has only three levels
  CHECK(design.points.size() == 5 * 3 + 2);
  CHECK(count(design, doe::PointType::kCenter) == 2);
}

TEST_CASE("Full factorials that cannot be are refused", "[doe][classical]") {
  CHECK_THROWS_WITH(full(request_of(letters(50))), Catch::Contains("1125899906842624 runs"));
  CHECK_THROWS_WITH(full(request_of({})), Catch::Contains("at least 1 factor"));
  CHECK_THROWS_WITH(full(request_of({words("w", {"only"})})), Catch::Contains("'w' has only one"));
  doe::DesignRequest request = request_of(letters(2));
  request.options.levels = 1;
  CHECK_THROWS_WITH(full(request), Catch::Contains("levels are 2 to 1000000"));
  request = request_of(letters(3));
  request.options.levels = 2000;  // 201 of them are usable
  CHECK_THROWS_WITH(full(request), Catch::Contains("8120601 runs"));
  request = request_of({words("w", {"x", "y"})});
  request.options.center_runs = 1;
  CHECK_THROWS_WITH(full(request), Catch::Contains("no centre"));
}
