#include "base/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace doetune {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitution = same_letter(a[i - 1], b[j - 1]) ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + substitution});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& valid) {
  constexpr std::size_t kMaxLength = 64;
  if (name.size() > kMaxLength) return std::nullopt;
  std::optional<std::string> nearest;
  int smallest = static_cast<int>(name.size());  // a distance of all letters is no match
  for (const std::string& other : valid) {
    const int distance = edit_distance(name, other);
    const int limit = std::max(1, static_cast<int>(std::max(name.size(), other.size())) / 3);
    if (distance > limit || distance >= smallest) continue;
    smallest = distance;
    nearest = other;
  }
  return nearest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid) {
  const std::optional<std::string> nearest = nearest_name(name, valid);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

std::string did_you_mean_or_list(std::string_view name, const std::vector<std::string>& valid) {
  if (const std::string meant = did_you_mean(name, valid); !meant.empty() || valid.empty())
    return meant;
  constexpr std::size_t kMaxCharacters = 320;
  std::string list = valid.front();
  for (std::size_t i = 1; i < valid.size(); ++i) {
    const bool fits = list.size() + valid[i].size() <= kMaxCharacters;
    list += ", " + (fits ? valid[i] : "...");
    if (!fits) break;
  }
  return "; expected one of " + list;
}

}  // namespace doetune
