#include "workloads/protocol/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace doetune::workloads {
namespace {

constexpr std::size_t kLongest = 64;  // names are untrusted input: nothing longer is near any

std::string in_small_letters(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return small;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t substituted = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({substituted, d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& valid) {
  if (wrong.size() > kLongest) return "";
  const std::string name = in_small_letters(wrong);
  std::string_view nearest;
  std::size_t least = name.size();  // every letter wrong is no likeness
  for (const std::string& other : valid) {
    const std::size_t distance = edit_distance(name, in_small_letters(other));
    const std::size_t limit = std::max<std::size_t>(1, std::max(name.size(), other.size()) / 3);
    if (distance > limit || distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace doetune::workloads
