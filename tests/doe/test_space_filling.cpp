#include <Eigen/QR>
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/random.h"
#include "doe/design.h"
#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

namespace {

doe::DesignRequest request(std::vector<doe::Factor> factors, int runs, int starts = 1) {
  doe::DesignRequest request;
  request.factors = std::move(factors);
  request.options.runs = runs;
  request.options.starts = starts;
  request.seed = 3;
  return request;
}

void constrain(doe::DesignRequest& request, const std::string& text) {
  std::vector<std::string> names;
  for (const doe::Factor& factor : request.factors) names.push_back(factor.name);
  request.region =
      doe::Region(request.factors, {std::make_shared<const doe::Expression>(text, names)}, {});
}

/// The frequency of each value in a column.
std::map<double, int> counts(const Eigen::VectorXd& column) {
  std::map<double, int> count;
  for (const double value : column) ++count[value];
  return count;
}

std::set<std::vector<double>> distinct(const Eigen::MatrixXd& x) {
  std::set<std::vector<double>> rows;
  for (const Eigen::RowVectorXd row : x.rowwise()) rows.insert({row.begin(), row.end()});
  return rows;
}

}  // namespace

TEST_CASE("A space-filling design of continuous factors is a Latin hypercube", "[doe][filling]") {
  for (const std::string criterion : {"", "maximin", "centered-l2", "maxpro"}) {
    INFO(criterion);
    doe::DesignRequest wanted = request(numbered_factors(3), 11);
    wanted.options.criterion = criterion;
    const doe::Design design = doe::build_design("space-filling", wanted);
    const Eigen::MatrixXd x = design.coded();
    REQUIRE(x.rows() == 11);
    REQUIRE(design.search);
    CHECK(design.notes.empty());
    for (int c = 0; c < 3; ++c) {
      Eigen::VectorXd column = x.col(c);
      std::sort(column.begin(), column.end());
      for (int i = 0; i < 11; ++i) {
        if (criterion == "centered-l2")
          CHECK(column[i] == Approx((2 * i - 10) / 11.0).margin(0.006));
        if (criterion.empty() || criterion == "maximin") CHECK(column[i] == Approx(i / 5.0 - 1));
        if (i > 0) CHECK(column[i] > column[i - 1]);  // all settings differ
      }
    }
  }
}

TEST_CASE("Runs that suffice for the model determine it", "[doe][filling]") {
  // Mirrored pairs, which maximise distances, do not: in 20 runs 10 of 11 even columns.
  for (const auto& [factors, runs] :
       {std::pair(2, 6), {2, 8}, {3, 10}, {3, 14}, {4, 15}, {4, 20}, {5, 24}, {6, 30}}) {
    for (const std::string criterion : {"maximin", "maxpro"}) {
      INFO(factors << " factors in " << runs << " runs, " << criterion);
      doe::DesignRequest wanted = request(numbered_factors(factors), runs, 4);
      wanted.options.criterion = criterion;
      wanted.model = doe::Model::named("quadratic", wanted.factors);
      const Eigen::MatrixXd x =
          wanted.model.matrix(doe::build_design("space-filling", wanted).coded());
      CHECK(Eigen::FullPivHouseholderQR<Eigen::MatrixXd>(x).rank() == x.cols());
    }
  }
}

TEST_CASE("No two points of a MaxPro design share a setting", "[doe][filling]") {
  // There the criterion is infinite: Joseph, Gul & Ba (2015).
  for (const auto& [factors, runs] : {std::pair(4, 20), {2, 30}, {6, 25}}) {
    doe::DesignRequest wanted = request(numbered_factors(factors), runs, 2);
    wanted.options.criterion = "maxpro";
    const Eigen::MatrixXd x = doe::build_design("space-filling", wanted).coded();
    for (int f = 0; f < factors; ++f) {
      CHECK(std::set<double>(x.col(f).begin(), x.col(f).end()).size() == std::size_t(runs));
    }
  }
}

TEST_CASE("Few settings and categorical levels are balanced", "[doe][filling]") {
  const std::vector<doe::Factor> factors{whole("n", 1, 4), powers_of_two("b", {1, 2, 4, 8, 16}),
                                         words("w", {"x", "y", "z"}), continuous("c")};
  const doe::Design design = doe::build_design("space-filling", request(factors, 22));
  const Eigen::MatrixXd x = design.coded();
  for (int c = 0; c < 3; ++c) {
    const std::map<double, int> count = counts(x.col(c));
    CHECK(count.size() == (c == 0 ? 4 : c == 1 ? 5 : 3));
    const double equal = 22.0 / static_cast<double>(count.size());
    for (const auto& [level, times] : count) CHECK(std::abs(times - equal) < 1);
  }
  CHECK(counts(x.col(3)).size() == 22);
  CHECK(design.search->criterion.find("MaxPro") == 0);
  for (const doe::DesignPoint& point : design.points) {
    const std::vector<double> natural = doe::natural_settings(factors, point.coded);
    for (std::size_t f = 0; f < factors.size(); ++f) CHECK(factors[f].allows(natural[f]));
  }
}

TEST_CASE("A full factorial's worth of runs is the full factorial", "[doe][filling]") {
  // For MaxPro coincident points are the worst pairs.
  const doe::Design design =
      doe::build_design("space-filling", request({words("w", {"x", "y"}), whole("n", 1, 3)}, 6, 4));
  CHECK(distinct(design.coded()).size() == 6);
  const doe::Design more =
      doe::build_design("space-filling", request({words("w", {"x", "y"}), whole("n", 1, 3)}, 9, 4));
  CHECK(distinct(more.coded()).size() == 6);
  REQUIRE(more.notes.size() == 1);
  CHECK_THAT(more.notes[0], Catch::Contains("3 of 9 points repeat"));
}

TEST_CASE("Sampled designs keep constraints, in random regions", "[doe][filling]") {
  RandomStream random(21, 0);
  for (int trial = 0; trial < 3; ++trial) {
    const std::vector<doe::Factor> factors{continuous("a"), whole("n", 1, 8),
                                           words("w", {"x", "y"}), continuous("c", 0, 10)};
    doe::DesignRequest wanted = request(factors, 9);
    const double slope = 2 * random.uniform() - 1;
    constrain(wanted, "a + " + std::to_string(slope) + " * n < 1 && c * n > 8");
    for (const char* type : {"space-filling", "sobol", "random"}) {
      for (const char* criterion : {"maxpro", "maximin", "centered-l2"}) {
        wanted.options.criterion = criterion;
        const doe::Design design = doe::build_design(type, wanted);
        REQUIRE(design.points.size() == 9);
        for (const doe::DesignPoint& point : design.points) {
          CHECK(wanted.region.allows(doe::natural_settings(factors, point.coded)));
        }
        CHECK(distinct(design.coded()).size() == 9);
      }
    }
  }
}

TEST_CASE("A region of separate parts is filled in all of them", "[doe][filling]") {
  doe::DesignRequest wanted = request({continuous("a"), continuous("b")}, 10, 2);
  constrain(wanted, "a * b > 0.3");  // two corners not connected by a change of one setting
  int low = 0;
  const doe::Design design = doe::build_design("space-filling", wanted);
  for (const doe::DesignPoint& point : design.points) low += point.coded[0] < 0 ? 1 : 0;
  CHECK(low >= 3);
  CHECK(low <= 7);
}

TEST_CASE("A region that allows nothing, or nearly nothing, is reported", "[doe][filling]") {
  doe::DesignRequest empty = request(numbered_factors(2), 5);
  constrain(empty, "x0 > 2");
  CHECK_THROWS_WITH(doe::build_design("space-filling", empty), Catch::Contains("none of 1000000"));
  CHECK_THROWS_WITH(doe::build_design("sobol", empty), Catch::Contains("0 of 2000000"));
  doe::DesignRequest small = request(numbered_factors(2), 5);
  constrain(small, "x0 > 0.9 && x1 > 0.9");
  const doe::Design design = doe::build_design("space-filling", small);
  CHECK(design.points.size() == 5);
  CHECK_THAT(design.notes.front(), Catch::Contains("percent of"));
}

// Each run of a search that is replayed starts with such a design.
TEST_CASE("A few usable configurations are found without a million tries", "[doe][filling]") {
  doe::DesignRequest few =
      request({powers_of_two("a", {1, 2, 4}), powers_of_two("b", {1, 2, 4})}, 5);
  std::atomic<long> tried = 0;
  const auto allows = [&tried](const std::vector<double>& settings) {
    ++tried;
    return settings[0] + settings[1] <= 5;
  };
  few.region = doe::Region(few.factors, {}, {}).where(allows, "a + b <= 5");
  const doe::Design design = doe::build_design("space-filling", few);
  CHECK(design.points.size() == 5);
  CHECK(tried < 500'000);
}

TEST_CASE("New points fill the gaps that existing ones leave", "[doe][filling]") {
  doe::DesignRequest wanted = request(numbered_factors(2), 8, 2);
  wanted.existing = Eigen::MatrixXd(4, 2);
  wanted.existing << -1, -1, -1, -1, -0.5, -0.5, -0.2, -0.8;
  for (const char* criterion : {"maxpro", "maximin", "centered-l2"}) {
    wanted.options.criterion = criterion;
    const doe::Design design = doe::build_design("space-filling", wanted);
    REQUIRE(design.points.size() == 8);
    Eigen::MatrixXd all(12, 2);
    all << wanted.existing, design.coded();
    CHECK(distinct(all).size() == 11);  // no repeats except the existing pair
    int inside = 0;
    for (const doe::DesignPoint& point : design.points) {
      inside += point.coded[0] < 0 && point.coded[1] < 0 ? 1 : 0;
    }
    CHECK(inside <= 2);  // the quarter that already has four points
  }
}

TEST_CASE("Sobol' and random designs continue themselves", "[doe][filling]") {
  const std::vector<doe::Factor> factors{continuous("a"), words("w", {"x", "y", "z"}),
                                         whole("n", 1, 100)};
  for (const char* type : {"sobol", "random"}) {
    const Eigen::MatrixXd whole_design = doe::build_design(type, request(factors, 32)).coded();
    doe::DesignRequest rest = request(factors, 16);
    rest.existing = whole_design.topRows(16);
    CHECK(doe::build_design(type, rest).coded().isApprox(whole_design.bottomRows(16)));
  }
}

TEST_CASE("Centre runs and replicates are part of the runs asked for", "[doe][filling]") {
  for (const char* type : {"space-filling", "sobol", "random"}) {
    doe::DesignRequest wanted = request(numbered_factors(2), 20);
    wanted.options.replicates = 2;
    wanted.options.center_runs = 3;
    const doe::Design design = doe::build_design(type, wanted);
    CHECK(design.points.size() == 20);
    CHECK(std::count_if(design.points.begin(), design.points.end(), [](const auto& point) {
            return point.type == doe::PointType::kCenter;
          }) == 6);
    wanted.options.runs = 21;
    CHECK_THROWS_WITH(doe::build_design(type, wanted), Catch::Contains("not a multiple"));
    wanted.options.runs = 6;
    CHECK_THROWS_WITH(doe::build_design(type, wanted), Catch::Contains("6 centre runs"));
    wanted.options.runs.reset();
    CHECK_THROWS_WITH(doe::build_design(type, wanted), Catch::Contains("needs the option runs"));
  }
}

TEST_CASE("Designs of unusual sizes are valid", "[doe][filling]") {
  for (const char* type : {"space-filling", "sobol", "random"}) {
    for (const int k : {1, 2, 50}) {
      for (const int runs : {1, 2, 3, 7}) {
        const doe::Design design = doe::build_design(type, request(numbered_factors(k), runs));
        const Eigen::MatrixXd x = design.coded();
        INFO(type << ' ' << k << ' ' << runs);
        CHECK(x.rows() == runs);
        CHECK(x.cwiseAbs().maxCoeff() <= 1);
        CHECK(distinct(x).size() == static_cast<std::size_t>(runs));
      }
    }
  }
  CHECK(doe::build_design("sobol", request(numbered_factors(2), 5000)).points.size() == 5000);
  CHECK_THROWS_WITH(doe::build_design("space-filling", request(numbered_factors(2), 5000)),
                    Catch::Contains("at most 2000"));
  CHECK_THROWS_WITH(doe::build_design("sobol", request(numbered_factors(51), 8)),
                    Catch::Contains("at most 50"));
  doe::DesignRequest unknown = request(numbered_factors(2), 5);
  unknown.options.criterion = "minimax";
  CHECK_THROWS_WITH(doe::build_design("space-filling", unknown), Catch::Contains("maxpro"));
}

TEST_CASE("More runs than settings, and log scales, are placed as evenly as can be",
          "[doe][filling]") {
  doe::Factor batch = whole("batch", 1, 128);
  batch.scale = doe::Scale::kLog2;
  const doe::Design design =
      doe::build_design("space-filling", request({batch, continuous("rate", 1, 9)}, 16));
  const Eigen::VectorXd column = design.coded().col(0);
  CHECK(column.minCoeff() == -1);
  CHECK(column.maxCoeff() == 1);
  CHECK((column.array() < 0).count() >= 7);  // half of the runs are below 12, the centre of the log
                                             // scale
  CHECK(distinct(design.coded()).size() == 16);
  const doe::Design plain = doe::build_design("space-filling", request({whole("n", 1, 5)}, 12));
  for (const auto& [level, times] : counts(plain.coded().col(0))) {
    CHECK(times >= 2);
    CHECK(times <= 3);
  }
}
