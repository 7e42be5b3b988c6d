#include "doe/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace doetune::doe {
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

std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid) {
  if (valid.empty()) return "";
  // A name of any length is untrusted input: nothing long is near anything.
  if (name.size() <= 64) {
    const auto nearest = std::min_element(valid.begin(), valid.end(),
                                          [&](const std::string& a, const std::string& b) {
                                            return edit_distance(name, a) < edit_distance(name, b);
                                          });
    const int limit =
        std::max<int>(1, static_cast<int>(std::max(name.size(), nearest->size())) / 3);
    const int distance = edit_distance(name, *nearest);
    if (distance <= limit && distance < static_cast<int>(name.size()))
      return fmt::format("; did you mean '{}'?", *nearest);
  }
  constexpr std::size_t kMostCharacters = 320;
  std::string list = valid.front();
  for (std::size_t i = 1; i < valid.size(); ++i) {
    const bool room = list.size() + valid[i].size() <= kMostCharacters;
    list += ", " + (room ? valid[i] : "...");
    if (!room) break;
  }
  return "; expected one of " + list;
}

}  // namespace doetune::doe
