#include <catch2/catch.hpp>
#include <memory>

#include "doe/expression.h"
#include "doe/region.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using doe::Expression;

TEST_CASE("Expressions compute over named numbers", "[doe][expression]") {
  const Expression expression("a * b <= 6", {"a", "b"});
  CHECK(expression.value(std::vector<double>{2, 3}) == 1);
  CHECK(expression.value(std::vector<double>{2, 4}) == 0);
  CHECK(Expression("b + 1", {"a", "b"}).used() == std::vector<int>{1});
}

TEST_CASE("Mistakes in expressions are placed and explained", "[doe][expression]") {
  CHECK_THROWS_WITH(Expression("batch_sise * 2", {"batch_size"}),
                    Catch::Contains("did you mean 'batch_size'?"));
  for (const char* text : {"", "a +", "(a", "a b", "a ; b", "sin(", "1e", "a = 3", "'x'"}) {
    INFO(text);
    CHECK_THROWS_AS(Expression(text, {"a"}), doe::ExpressionError);
  }
  try {
    Expression("a + + * 2", {"a"});
    FAIL("accepted");
  } catch (const doe::ExpressionError& error) {
    CHECK(error.position >= 5);
  }
}

TEST_CASE("Comparisons joined by logic, and within parentheses, are no chains",
          "[doe][expression]") {
  const Expression both("2 <= a && a <= 4", {"a"});
  CHECK(both.value(std::vector<double>{3}) == 1);
  CHECK(both.value(std::vector<double>{5}) == 0);
  CHECK(Expression("(a < 2) == (a != 1)", {"a"}).value(std::vector<double>{0}) == 1);
}

TEST_CASE("A region excludes by constraint and by forbidden combination", "[doe][region]") {
  const std::vector<doe::Factor> factors{words("precision", {"fp32", "bf16"}),
                                         continuous("rate", 1, 9)};
  const auto constraint = std::make_shared<const Expression>(
      "rate <= 8", std::vector<std::string>{"precision", "rate"});
  const doe::Forbidden slow{{0, doe::Condition::Comparison::kEqual, 0},
                            {1, doe::Condition::Comparison::kGreaterEqual, 7}};
  const doe::Region region(factors, {constraint}, {slow});
  CHECK(region.allows({0, 6.9}));
  CHECK_FALSE(region.allows({0, 7}));
  CHECK(region.allows({1, 7}));
  CHECK_FALSE(region.allows({1, 8.5}));
  CHECK(region.excluded_by({1, 8.5}) == "rate <= 8");
  CHECK(region.excluded_by({0, 7}) == "forbidden: precision = fp32 and rate >= 7");
  CHECK(doe::Region().is_box());
}
