#include "surfaces/least_squares/blocks.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace doetune::surfaces {

int block_count(const std::vector<int>& blocks) {
  return blocks.empty() ? 1 : static_cast<int>(std::set<int>(blocks.begin(), blocks.end()).size());
}

Eigen::MatrixXd block_contrasts(const std::vector<int>& blocks, Eigen::Index n) {
  std::map<int, int> index;
  for (const int block : blocks) index[block] = 0;
  int next = 0;
  for (auto& [block, at] : index) at = next++;
  Eigen::MatrixXd contrasts = Eigen::MatrixXd::Zero(n, block_count(blocks) - 1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const int at = index[blocks[i]];
    if (at == 0) contrasts.row(row).setConstant(-1);
    if (at > 0) contrasts(row, at - 1) = 1;
  }
  return contrasts;
}

Eigen::VectorXd about_block_means(const std::vector<int>& blocks, const Eigen::VectorXd& z) {
  if (blocks.empty()) return z.array() - z.mean();
  std::map<int, std::vector<Eigen::Index>> runs;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    runs[blocks[i]].push_back(static_cast<Eigen::Index>(i));
  }
  Eigen::VectorXd about = z;
  for (const auto& [block, rows] : runs) about(rows).array() -= z(rows).mean();
  return about;
}

std::vector<std::string> block_names(const std::vector<int>& blocks) {
  const std::set<int> numbers(blocks.begin(), blocks.end());
  std::vector<std::string> names;
  for (const int number : numbers) {
    if (number != *numbers.begin()) names.push_back(fmt::format("block[{}]", number));
  }
  return names;
}

}  // namespace doetune::surfaces
