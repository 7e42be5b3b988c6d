// Blocks as contrast columns of a fit.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace doetune::surfaces {

/// The number of blocks; 1 if no block numbers are given.
int block_count(const std::vector<int>& blocks);

/// The n x (blocks - 1) sum-to-zero contrasts: 1 in the block, -1 in the first one.
Eigen::MatrixXd block_contrasts(const std::vector<int>& blocks, Eigen::Index n);

/// Responses, or a column, minus the mean of their block.
Eigen::VectorXd about_block_means(const std::vector<int>& blocks, const Eigen::VectorXd& z);

/// One per contrast: "block[2]".
std::vector<std::string> block_names(const std::vector<int>& blocks);

}  // namespace doetune::surfaces
