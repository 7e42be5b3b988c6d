// Box-Behnken designs: two-level factorials in subsets of two to five factors with the other
// factors at their centre, plus centre runs. Every factor is in the same number of subsets, and
// every pair of factors is in at least one.
//
// Box & Behnken (1960), for 3-7, 9-12 and 16 numeric factors. With L combinations of categorical
// levels the design is run at each combination.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

#include "doe/classical/across_categories.h"
#include "doe/classical/two_level.h"
#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

struct Structure {
  int factors;
  std::string_view sets;  ///< subsets of factors a, b, c, ...
  int center_runs;        ///< as published
  int groups;   ///< groups of consecutive sets that contain every factor equally often: blocks
  bool halves;  ///< whether the highest-order product of each set can split its runs into blocks
  bool half_fractions;  ///< whether each set runs only a half fraction of its 2^5, of resolution V
};

/// Pairs for up to 5 factors; partially balanced triples for 6; the Fano plane for 7; affine planes
/// of order 3 and 4, with one parallel class repeated, for 9 and 16; cyclic sets for 11 (the
/// squares modulo 11, a balanced design) and 12.
constexpr std::array kStructures{
    Structure{3, "ab ac bc", 3, 1, false, false},
    Structure{4, "ab cd ad bc ac bd", 3, 3, false, false},
    Structure{5, "ab cd be ac de bc ad ce ae bd", 6, 2, false, false},
    Structure{6, "abd bce cdf ade bef acf", 6, 1, true, false},
    Structure{7, "def afg beg abd cdg ace bcf", 6, 1, true, false},
    Structure{9, "adg beh cfi abc def ghi aei cdh bfg afh bdi ceg adg beh cfi", 10, 5, true, false},
    Structure{10, "bfgj abej bcgh bdfi ahij cdej adgh cegi acfi defh", 10, 1, true, false},
    Structure{11, "acdei bdefj cefgk adfgh beghi cfhij dgijk aehjk abfik abcgj bcdhk", 12, 1, false,
              true},
    Structure{12, "abeg bcfh cdgi dehj efik fgjl aghk bhil acij bdjk cekl adfl", 12, 1, true,
              false},
    Structure{16,
              "abcd efgh ijkl mnop aeim bfjn cgko dhlp afkp belo chin dgjm agln bhkm cejp dfio "
              "ahjo bgip cflm dekn abcd efgh ijkl mnop",
              12, 6, true, false},
};

const Structure& structure_of(int k) {
  const auto found = std::find_if(kStructures.begin(), kStructures.end(),
                                  [&](const Structure& s) { return s.factors == k; });
  if (found != kStructures.end()) return *found;
  throw DesignError(
      fmt::format("Box & Behnken published designs for 3 to 7, 9 to 12 and 16 numeric factors, but "
                  "there {} {}; ccd takes 2 to 20",
                  k == 1 ? "is" : "are", k));
}

/// The number of blocks into which each group is split: 1 or 2.
int halves_of(const Structure& structure, int blocks) {
  if (blocks <= 1 || blocks == structure.groups) return 1;
  if (structure.halves && blocks == 2 * structure.groups) return 2;
  std::string known;
  if (structure.groups > 1) known += fmt::format("{}", structure.groups);
  if (structure.halves) {
    known += fmt::format("{}{}", known.empty() ? "" : " or ", 2 * structure.groups);
  }
  throw DesignError(
      fmt::format("box-behnken of {} factors cannot be run in {} orthogonal blocks; possible: {}",
                  structure.factors, blocks, known.empty() ? "1" : known));
}

/// The two-level runs of one set, the first factor changing fastest.
void append_set(const Structure& structure, const std::string& set, int block, int halves,
                std::vector<DesignPoint>& points) {
  for (unsigned corner = 0; corner < 1U << set.size(); ++corner) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(structure.factors);
    double product = 1;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const double sign = (corner >> i & 1U) != 0 ? 1 : -1;
      x[set[i] - 'a'] = sign;
      product *= sign;
    }
    if (structure.half_fractions && product < 0) continue;
    const bool second_half = halves == 2 && product > 0;
    points.push_back({x, PointType::kFactorial, second_half ? block + structure.groups : block});
  }
}

std::vector<DesignPoint> set_points(const Structure& structure, int blocks, int halves) {
  std::istringstream words{std::string(structure.sets)};
  const std::vector<std::string> sets{std::istream_iterator<std::string>(words), {}};
  const std::size_t group_size = sets.size() / static_cast<std::size_t>(structure.groups);
  std::vector<DesignPoint> points;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const int group = blocks == 1 ? 0 : static_cast<int>(s / group_size);
    append_set(structure, sets[s], group + 1, halves, points);
  }
  return points;
}

}  // namespace

Design box_behnken(const DesignRequest& request) {
  require_factors(request, "box-behnken", 1);
  const Structure& structure =
      structure_of(static_cast<int>(numeric_factors(request.factors).size()));
  const int blocks = std::max(request.options.blocks, 1);
  const int halves = halves_of(structure, blocks);
  const int center_runs =
      request.options.center_runs.value_or((structure.center_runs + blocks - 1) / blocks * blocks);
  if (center_runs % blocks != 0) {
    throw DesignError(
        fmt::format("box-behnken: {} blocks are orthogonal with a multiple of {} centre runs, not "
                    "{}",
                    blocks, blocks, center_runs));
  }
  std::vector<DesignPoint> points = set_points(structure, blocks, halves);
  for (int run = 0; run < center_runs; ++run) {
    points.push_back(
        {Eigen::VectorXd::Zero(structure.factors), PointType::kCenter, 1 + run % blocks});
  }
  Design design;
  design.points = across_categories(request, points, "box-behnken");
  return design;
}

}  // namespace doetune::doe
