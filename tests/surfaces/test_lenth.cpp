#include <catch2/catch.hpp>

#include "surfaces/diagnostics/lenth.h"

using namespace doetune::surfaces;

TEST_CASE("Lenth's margins of a published example", "[surfaces][lenth]") {
  // Filtration rate, an unreplicated 2^4. Source: Montgomery, Design and Analysis of
  // Experiments, 8th edition, table 6.12 and section 6.5: PSE 2.625, ME 6.75, SME 13.70.
  Eigen::VectorXd effects(15);
  effects << 21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125, 1.875,
      4.125, -1.625, -2.625, 1.375;
  const auto margins = lenth_margins(effects);
  REQUIRE(margins);
  CHECK(margins->pseudo_error == Approx(2.625));
  CHECK(margins->margin == Approx(6.7477).epsilon(1e-4));                // R: qt(0.975, 5) * 2.625
  CHECK(margins->simultaneous_margin == Approx(13.6991).epsilon(1e-4));  // qt((1+0.95^(1/15))/2, 5)
  // Margins are in the unit of the effects.
  CHECK(lenth_margins(1000 * effects)->margin == Approx(1000 * margins->margin));
}

TEST_CASE("Too few effects, or most of them none, have no margin", "[surfaces][lenth]") {
  CHECK_FALSE(lenth_margins(Eigen::Vector2d(1, 2)));
  CHECK_FALSE(lenth_margins(Eigen::VectorXd::Zero(8)));
  Eigen::VectorXd sparse = Eigen::VectorXd::Zero(8);
  sparse[3] = 5;
  CHECK_FALSE(lenth_margins(sparse));
}

TEST_CASE("Places of a half-normal plot", "[surfaces][lenth]") {
  // R: qnorm(0.5 + 0.5 * (1:4 - 0.5) / 4)
  const std::vector<double> quantiles = half_normal_quantiles(4);
  REQUIRE(quantiles.size() == 4);
  CHECK(quantiles[0] == Approx(0.1573107));
  CHECK(quantiles[1] == Approx(0.4887764));
  CHECK(quantiles[2] == Approx(0.8871466));
  CHECK(quantiles[3] == Approx(1.5341205));
}
