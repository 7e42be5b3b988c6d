// Parsing and printing of the generators of a fraction.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/nearest_name.h"
#include "doe/classical/fraction_notes.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

struct Generator {
  int factor = 0;
  int sign = 1;
  Effect product;
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

int factor_named(std::string_view name, const std::vector<Factor>& factors,
                 std::string_view generator) {
  std::vector<std::string> names;
  for (const Factor& factor : factors) names.push_back(factor.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw DesignError(fmt::format("generator '{}': there is no factor '{}'{}", generator, name,
                                  did_you_mean_or_list(name, names)));
  }
  return static_cast<int>(found - names.begin());
}

Generator parse_generator(std::string_view text, const std::vector<Factor>& factors) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw DesignError(fmt::format(
        "generator '{}': expected an equation like \"d = a*b*c\" or \"d = -a*b\"", text));
  }
  Generator generator;
  generator.factor = factor_named(trimmed(text.substr(0, equals)), factors, text);
  std::string_view rest = trimmed(text.substr(equals + 1));
  if (rest.starts_with('-') || rest.starts_with('+')) {
    generator.sign = rest.front() == '-' ? -1 : 1;
    rest.remove_prefix(1);
  }
  for (std::size_t star = 0; star != std::string_view::npos;) {
    star = rest.find('*');
    generator.product.push_back(factor_named(trimmed(rest.substr(0, star)), factors, text));
    if (star != std::string_view::npos) rest.remove_prefix(star + 1);
  }
  return generator;
}

void require_distinct_columns(const RegularFraction& fraction, const std::vector<Factor>& factors) {
  std::map<ColumnBits, std::size_t> seen;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto [first, fresh] = seen.emplace(fraction.columns[f], f);
    if (fraction.columns[f] == 0) {
      throw DesignError(fmt::format("the generators keep '{}' constant", factors[f].name));
    }
    if (fresh) continue;
    throw DesignError(fmt::format("the generators confound '{}' with '{}'", factors[f].name,
                                  factors[first->second].name));
  }
}

}  // namespace

RegularFraction parse_generators(const std::vector<std::string>& texts,
                                 const std::vector<Factor>& factors) {
  std::vector<std::optional<Generator>> by_factor(factors.size());
  for (const std::string& text : texts) {
    const Generator generator = parse_generator(text, factors);
    if (by_factor[generator.factor]) {
      throw DesignError(fmt::format("generator '{}': '{}' already has one", text,
                                    factors[generator.factor].name));
    }
    by_factor[generator.factor] = generator;
  }
  const std::size_t basic = factors.size() - texts.size();
  if (basic > kMaxBasicFactors) {
    throw DesignError(fmt::format("{} generators of {} factors leave 2^{} runs; at most 2^{}",
                                  texts.size(), factors.size(), basic, kMaxBasicFactors));
  }
  RegularFraction fraction{0, std::vector<ColumnBits>(factors.size(), 0),
                           std::vector<int>(factors.size(), 1)};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!by_factor[f]) fraction.columns[f] = ColumnBits{1} << fraction.basic++;
  }
  for (const auto& generator : by_factor) {
    if (!generator) continue;
    for (const int f : generator->product) {
      if (!by_factor[f]) continue;
      throw DesignError(
          fmt::format("the generator of '{}' uses '{}', which has a generator itself; use only "
                      "factors without one",
                      factors[generator->factor].name, factors[f].name));
    }
    fraction.columns[generator->factor] = fraction.column(generator->product);
    fraction.signs[generator->factor] = generator->sign;
  }
  require_distinct_columns(fraction, factors);
  return fraction;
}

std::vector<std::string> generator_texts(const RegularFraction& fraction,
                                         const std::vector<Factor>& factors) {
  std::map<ColumnBits, int> basic;  // the first factor whose column is this basic column
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const ColumnBits column = fraction.columns[f];
    if ((column & (column - 1)) == 0) basic.emplace(column, static_cast<int>(f));
  }
  std::vector<std::string> texts;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    Effect product;
    for (const auto& [column, factor] : basic) {
      if ((fraction.columns[f] & column) != 0) product.push_back(factor);
    }
    if (product.size() == 1) continue;
    texts.push_back(fmt::format("{} = {}{}", factors[f].name, fraction.signs[f] < 0 ? "-" : "",
                                effect_name(product, factors)));
  }
  return texts;
}

}  // namespace doetune::doe
