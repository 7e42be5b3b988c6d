// Two published response-surface studies in coded units.
//
// The helicopter study: Box & Draper, Response Surfaces, Mixtures, and Ridge Analyses (2007), table
// 12.5. The chemical reaction: Myers, Montgomery & Anderson-Cook, Response Surface Methodology
// (2009), table 7.6. Both are analysed in Lenth (2009), J. Stat. Software 32 (7).
#pragma once

#include <Eigen/Core>
#include <vector>

namespace doetune::tests {

struct PublishedStudy {
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;
  std::vector<int> blocks;
};

/// Coded time (85 +- 5) and temperature (175 +- 5); the yield of a reaction, in two blocks.
inline PublishedStudy chemical_reaction() {
  PublishedStudy study{
      Eigen::MatrixXd(14, 2), Eigen::VectorXd(14), {1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2}};
  const double axial = 1.414;  // 7.07 natural units
  study.coded << -1, -1, -1, 1, 1, -1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, axial, 0, -axial,
      0, 0, axial, 0, -axial;
  study.y << 80.5, 81.5, 82.0, 83.5, 83.9, 84.3, 84.0, 79.7, 79.8, 79.5, 78.4, 75.6, 78.5, 77.0;
  return study;
}

/// Wing area, wing length ratio, body width and body length of a paper helicopter; its mean flight
/// time. A central composite design in two blocks: the cube in standard order with two centre runs,
/// then the axial points at 2 with four centre runs.
inline PublishedStudy helicopter() {
  PublishedStudy study{Eigen::MatrixXd::Zero(30, 4), Eigen::VectorXd(30), {}};
  for (int i = 0; i < 16; ++i) {
    for (int f = 0; f < 4; ++f) study.coded(i, f) = (i >> f & 1) == 1 ? 1 : -1;
  }
  for (int f = 0; f < 4; ++f) {
    study.coded(18 + 2 * f, f) = -2;
    study.coded(19 + 2 * f, f) = 2;
  }
  study.y << 367, 369, 374, 370, 372, 355, 397, 377, 350, 373, 358, 363, 344, 355, 370, 362, 377,
      375, 361, 364, 355, 373, 361, 360, 380, 360, 370, 368, 369, 366;
  for (int i = 0; i < 30; ++i) study.blocks.push_back(i < 18 ? 1 : 2);
  return study;
}

}  // namespace doetune::tests
