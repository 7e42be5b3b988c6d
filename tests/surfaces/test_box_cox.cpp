#include <catch2/catch.hpp>
#include <cmath>

#include "surfaces/fit.h"
#include "surfaces/least_squares/box_cox.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;
using surfaces::Transform;

namespace {

/// Girth, height and volume of 31 black cherry trees (Ryan, Joiner & Ryan 1976, Minitab).
constexpr double kTrees[31][3] = {
    {8.3, 70, 10.3},  {8.6, 65, 10.3},  {8.8, 63, 10.2},  {10.5, 72, 16.4}, {10.7, 81, 18.8},
    {10.8, 83, 19.7}, {11.0, 66, 15.6}, {11.0, 75, 18.2}, {11.1, 80, 22.6}, {11.2, 75, 19.9},
    {11.3, 79, 24.2}, {11.4, 76, 21.0}, {11.4, 76, 21.4}, {11.7, 69, 21.3}, {12.0, 75, 19.1},
    {12.9, 74, 22.2}, {12.9, 85, 33.8}, {13.3, 86, 27.4}, {13.7, 71, 25.7}, {13.8, 64, 24.9},
    {14.0, 78, 34.5}, {14.2, 80, 31.7}, {14.5, 74, 36.3}, {16.0, 72, 38.3}, {16.3, 77, 42.6},
    {17.3, 81, 55.4}, {17.5, 82, 55.7}, {17.9, 80, 58.3}, {18.0, 80, 51.5}, {18.0, 80, 51.0},
    {20.6, 87, 77.0}};

struct Trees {
  doe::Model model =
      doe::Model::named("linear", {continuous("girth", 8, 21), continuous("height", 60, 90)});
  Eigen::MatrixXd coded{31, 2};
  Eigen::VectorXd volume{31};

  Trees() {
    for (int i = 0; i < 31; ++i) {
      for (int f = 0; f < 2; ++f) coded(i, f) = model.factors()[f].to_coded(kTrees[i][f]);
      volume[i] = kTrees[i][2];
    }
  }
};

}  // namespace

TEST_CASE("The likelihood of a power is that of MASS::boxcox", "[surfaces][box-cox]") {
  // Reference: R 4.2, MASS 7.3, boxcox(Volume ~ Girth + Height, data = trees), maximum and ends of
  // the 95 % interval by optimize and uniroot of the same likelihood.
  const Trees trees;
  const surfaces::BoxCox found = surfaces::box_cox(trees.model, trees.coded, trees.volume);
  REQUIRE(found.lambdas.size() == 41);
  CHECK(found.lambdas[20] == 0);
  CHECK(found.log_likelihood[0] == Approx(-32.82285220586719).epsilon(1e-12));
  CHECK(found.log_likelihood[15] == Approx(5.71669291976590).epsilon(1e-12));
  CHECK(found.log_likelihood[20] == Approx(20.75262218389889).epsilon(1e-12));
  CHECK(found.log_likelihood[30] == Approx(7.75998975646712).epsilon(1e-12));
  CHECK(found.lambda == Approx(0.306584833484).epsilon(1e-6));
  CHECK(found.highest == Approx(25.3746192647).epsilon(1e-11));
  CHECK(found.interval.low == Approx(0.117638859486).epsilon(1e-8));
  CHECK(found.interval.high == Approx(0.492176836065).epsilon(1e-8));
  CHECK(found.suggestion == Transform::power(0.31));  // neither log nor sqrt is in the interval
}

TEST_CASE("The suggested transform is the one that made the data", "[surfaces][box-cox]") {
  const doe::Model line = doe::Model::named("linear", {continuous("a")});
  Eigen::VectorXd x(16), noise(16);
  for (int i = 0; i < 16; ++i) {
    x[i] = -1 + i / 7.5;
    noise[i] = 0.02 * std::sin(37.0 * i);
  }
  const Eigen::VectorXd z = 3 + 1.5 * x.array() + noise.array();
  const auto suggestion = [&](const Eigen::VectorXd& y) {
    return surfaces::box_cox(line, x, y).suggestion;
  };
  CHECK(suggestion(z) == Transform::kNone);
  CHECK(suggestion(z.array().exp()) == Transform::kLog);
  CHECK(suggestion(z.array().square()) == Transform::kSqrt);
  CHECK(suggestion(z.array().inverse()) == Transform::kInverse);
  CHECK(suggestion(z.array().square().inverse()) == Transform::power(-0.5));
  CHECK_THROWS_WITH(suggestion(z.array() - 3), Catch::Contains("positive responses"));
  CHECK_THROWS_WITH(suggestion(Eigen::VectorXd::Constant(16, 2)),
                    Catch::Contains("fits the responses exactly"));
}
