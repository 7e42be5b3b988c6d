#include <catch2/catch.hpp>

#include "doe/model.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using doe::Model;

TEST_CASE("Named models have the terms of their name", "[doe][model]") {
  const std::vector<doe::Factor> abc{continuous("a"), continuous("b"), continuous("c")};
  // Number of terms: 1 + k, + k(k-1)/2, + k, and all monomials up to degree 3: C(k+3, 3).
  CHECK(Model::named("linear", abc).terms().size() == 4);
  CHECK(Model::named("interactions", abc).terms().size() == 7);
  CHECK(Model::named("cubic", abc).terms().size() == 20);
  CHECK(Model::named("quadratic", abc).term_names() ==
        std::vector<std::string>{"1", "a", "b", "c", "a*b", "a*c", "b*c", "a^2", "b^2", "c^2"});
  CHECK(Model::named("quadratic", {continuous("a")}).term_names() ==
        std::vector<std::string>{"1", "a", "a^2"});
  CHECK(Model::named("pure-quadratic", {continuous("a"), words("w", {"x", "y"}), continuous("b")})
            .term_names() == std::vector<std::string>{"1", "a", "w", "b", "a^2", "b^2"});
}

TEST_CASE("A factor with two settings has no square", "[doe][model]") {
  const Model model = Model::named("quadratic", {whole("a", 1, 2), continuous("b")});
  CHECK(model.term_names() == std::vector<std::string>{"1", "a", "b", "a*b", "b^2"});
}

TEST_CASE("Listed terms are read as study files write them", "[doe][model]") {
  const std::vector<doe::Factor> ab{continuous("a"), continuous("b")};
  const Model model = Model::parse({"1", "a", "a * b", "b^2", "a^2*b"}, ab);
  CHECK(model.term_names() == std::vector<std::string>{"1", "a", "a*b", "b^2", "a^2*b"});
  CHECK(model.row(Eigen::Vector2d(2, 3)) == (Eigen::RowVectorXd(5) << 1, 2, 6, 9, 12).finished());
  CHECK_THROWS_WITH(Model::parse({"batch"}, {continuous("batch_size")}),
                    Catch::Contains("there is no factor 'batch'"));
  CHECK_THROWS_WITH(Model::parse({"batch_sise"}, {continuous("batch_size")}),
                    Catch::Contains("did you mean 'batch_size'?"));
  CHECK_THROWS_WITH(Model::parse({"a", "a"}, ab), Catch::Contains("listed twice"));
  CHECK_THROWS_WITH(Model::parse({"a^0"}, ab), Catch::Contains("exponent"));
  CHECK(Model::parse({"a^12"}, ab).row(Eigen::Vector2d(-2, 3))[0] == 4096);
  CHECK_THROWS_WITH(Model::parse({"a^21"}, ab), Catch::Contains("exponent"));
  CHECK_THROWS_WITH(Model::parse({"a**b"}, ab), Catch::Contains("powers as a^2"));
  CHECK_THROWS_WITH(Model::named("quadratc", ab), Catch::Contains("did you mean 'quadratic'?"));
}

TEST_CASE("Categorical factors enter by sum-to-zero contrasts", "[doe][model]") {
  const Model model = Model::named("quadratic", {words("w", {"x", "y", "z"}), continuous("a")});
  std::vector<std::string> names;
  for (const doe::ModelColumn& column : model.columns()) names.push_back(column.name);
  CHECK(names == std::vector<std::string>{"1", "w[x]", "w[y]", "a", "w[x]*a", "w[y]*a", "a^2"});
  Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(7);
  for (const double level : {0.0, 1.0, 2.0}) sum += model.row(Eigen::Vector2d(level, 0.5));
  // Over all levels every contrast sums to zero, both alone and in interactions.
  CHECK(sum == (Eigen::RowVectorXd(7) << 3, 0, 0, 1.5, 0, 0, 0.75).finished());
  CHECK_THROWS_WITH(Model::parse({"w^2"}, {words("w", {"x", "y"})}), Catch::Contains("no powers"));
}
