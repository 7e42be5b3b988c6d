#include "doe/classical/fraction_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace doetune::doe {
namespace {

constexpr std::size_t kMaxListed = 12;
constexpr std::size_t kMaxCharacters = 400;

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (std::size_t shown = 0; shown < items.size(); ++shown) {
    if (shown == kMaxListed || text.size() > kMaxCharacters) {
      return text + fmt::format("; and {} more", items.size() - shown);
    }
    text += (shown == 0 ? "" : "; ") + items[shown];
  }
  return text;
}

std::string roman(int resolution) {
  constexpr std::array<const char*, 13> kNumerals{"0",   "I",    "II", "III", "IV", "V",  "VI",
                                                  "VII", "VIII", "IX", "X",   "XI", "XII"};
  if (resolution < static_cast<int>(kNumerals.size())) return kNumerals[resolution];
  return std::to_string(resolution);
}

/// Main effects, then two-factor interactions, grouped by column.
std::map<ColumnBits, std::vector<Effect>> effects_by_column(const RegularFraction& fraction) {
  std::map<ColumnBits, std::vector<Effect>> sets;
  const int k = static_cast<int>(fraction.columns.size());
  for (int a = 0; a < k; ++a) sets[fraction.column({a})].push_back({a});
  for (int a = 0; a < k; ++a) {
    for (int b = a + 1; b < k; ++b) sets[fraction.column({a, b})].push_back({a, b});
  }
  return sets;
}

/// The first product of `order` factors with index >= `first` that has this column; empty if none.
Effect product_with(const RegularFraction& fraction, ColumnBits column, int order, int first) {
  const int k = static_cast<int>(fraction.columns.size());
  for (int f = first; f <= k - order; ++f) {
    const ColumnBits rest = column ^ fraction.columns[f];
    if (order == 1) {
      if (rest == 0) return {f};
      continue;
    }
    Effect tail = product_with(fraction, rest, order - 1, f + 1);
    if (tail.empty()) continue;
    tail.insert(tail.begin(), f);
    return tail;
  }
  return {};
}

Effect shortest_product(const RegularFraction& fraction, ColumnBits column) {
  for (int order = 1;; ++order) {
    Effect product = product_with(fraction, column, order, 0);
    if (!product.empty()) return product;
  }
}

std::string word_length_text(const RegularFraction& fraction) {
  const std::vector<std::int64_t> lengths =
      fraction.word_lengths(std::min<int>(20, static_cast<int>(fraction.columns.size())));
  std::vector<std::string> words;
  for (std::size_t j = 1; j < lengths.size() && words.size() < 3; ++j) {
    if (lengths[j] > 0) words.push_back(fmt::format("{} of {} letters", lengths[j], j));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::string effect_name(const Effect& effect, const std::vector<Factor>& factors) {
  std::string name;
  for (const int f : effect) name += (name.empty() ? "" : "*") + factors[f].name;
  return name;
}

std::vector<std::string> alias_sets(const RegularFraction& fraction,
                                    const std::vector<Factor>& factors) {
  std::vector<const std::vector<Effect>*> shared;
  const auto by_column = effects_by_column(fraction);
  for (const auto& [column, effects] : by_column) {
    if (effects.size() > 1) shared.push_back(&effects);
  }
  std::sort(shared.begin(), shared.end(), [](const auto* a, const auto* b) {
    const Effect& first = a->front();
    const Effect& second = b->front();
    return first.size() != second.size() ? first.size() < second.size() : first < second;
  });
  std::vector<std::string> texts;
  for (const std::vector<Effect>* effects : shared) {
    std::string text = effect_name(effects->front(), factors);
    for (std::size_t i = 1; i < effects->size(); ++i) {
      const int sign = fraction.sign(effects->front()) * fraction.sign((*effects)[i]);
      text += fmt::format(" = {}{}", sign < 0 ? "-" : "", effect_name((*effects)[i], factors));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> fraction_notes(const RegularFraction& fraction,
                                        const std::vector<Factor>& factors) {
  const std::size_t k = factors.size();
  const auto resolution = fraction.resolution();
  if (!resolution) {
    return {fmt::format("full factorial, 2^{} = {} runs", k, fraction.run_count())};
  }
  std::vector<std::string> notes{
      fmt::format("2^({}-{}) fraction of resolution {} in {} runs; defining words: {}", k,
                  static_cast<int>(k) - fraction.basic, roman(*resolution), fraction.run_count(),
                  word_length_text(fraction)),
      fmt::format("generators: {}", listed(generator_texts(fraction, factors)))};
  const std::vector<std::string> aliases = alias_sets(fraction, factors);
  notes.push_back(aliases.empty() ? "aliases: none among main effects and two-factor interactions"
                                  : fmt::format("aliases: {}", listed(aliases)));
  return notes;
}

std::string block_note(const RegularFraction& fraction, const std::vector<ColumnBits>& columns,
                       const std::vector<Factor>& factors) {
  const auto by_column = effects_by_column(fraction);
  std::vector<std::string> products;
  for (const ColumnBits column : products_of(columns)) {
    const auto found = by_column.find(column);
    if (found == by_column.end()) {
      products.push_back(effect_name(shortest_product(fraction, column), factors));
      continue;
    }
    for (const Effect& effect : found->second) products.push_back(effect_name(effect, factors));
  }
  std::sort(products.begin(), products.end(), [](const std::string& a, const std::string& b) {
    const auto order = [](const std::string& s) { return std::count(s.begin(), s.end(), '*'); };
    return order(a) != order(b) ? order(a) < order(b) : a < b;
  });
  return fmt::format("blocks are confounded with {}", listed(products));
}

}  // namespace doetune::doe
