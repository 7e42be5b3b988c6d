#include "doe/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "base/nearest_name.h"

namespace doetune::doe {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::size_t find_factor(std::string_view name, const std::vector<Factor>& factors,
                        std::string_view term) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].name == name) return f;
  }
  if (name.empty()) {
    throw ModelError(fmt::format(
        "model term '{}': a factor is missing; write products as a*b and powers as a^2", term));
  }
  std::vector<std::string> names;
  for (const Factor& factor : factors) names.push_back(factor.name);
  throw ModelError(fmt::format("model term '{}': there is no factor '{}'{}", term, name,
                               did_you_mean_or_list(name, names)));
}

int parse_exponent(std::string_view text, std::string_view term) {
  constexpr int kMaxExponent = 20;  // beyond which powers in coded units are alike
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size() || exponent < 1 ||
      exponent > kMaxExponent) {
    throw ModelError(fmt::format("model term '{}': the exponent must be an integer from 1 to {}",
                                 term, kMaxExponent));
  }
  return exponent;
}

Term parse_term(std::string_view text, const std::vector<Factor>& factors) {
  Term term{std::vector<int>(factors.size(), 0)};
  if (trimmed(text) == "1") return term;
  std::string_view rest = text;
  while (true) {
    const auto star = rest.find('*');
    const std::string_view part = trimmed(rest.substr(0, star));
    const auto caret = part.find('^');
    const std::size_t f = find_factor(trimmed(part.substr(0, caret)), factors, text);
    term.powers[f] +=
        caret == std::string_view::npos ? 1 : parse_exponent(trimmed(part.substr(caret + 1)), text);
    if (star == std::string_view::npos) return term;
    rest = rest.substr(star + 1);
  }
}

/// Whether a factor has enough settings to estimate this power besides the lower ones.
bool has_power(const Factor& factor, int power) {
  if (power <= 1) return true;
  if (factor.is_categorical()) return false;
  return static_cast<int>(factor.usable_settings().size()) > power;
}

/// Appends all estimable terms of one order, in the order of factor indices.
void append_terms(const std::vector<Factor>& factors, int order, bool mixed_only,
                  std::vector<Term>& terms) {
  const std::size_t k = factors.size();
  std::vector<std::size_t> pick(order, 0);
  while (true) {
    Term term{std::vector<int>(k, 0)};
    for (std::size_t f : pick) ++term.powers[f];
    const bool distinct = *std::max_element(term.powers.begin(), term.powers.end()) == 1;
    bool estimable = true;
    for (std::size_t f = 0; f < k; ++f)
      estimable = estimable && has_power(factors[f], term.powers[f]);
    if (estimable && (!mixed_only || distinct)) terms.push_back(term);
    int i = order - 1;
    while (i >= 0 && pick[i] == k - 1) --i;
    if (i < 0) return;
    std::fill(pick.begin() + i, pick.end(), pick[i] + 1);
  }
}

/// Appends a term's columns: all combinations of the contrasts of its categorical factors.
void append_columns(const std::vector<Factor>& factors, const Term& term, int term_index,
                    std::vector<ModelColumn>& columns) {
  std::vector<ModelColumn> open{{term_index, std::vector<int>(factors.size(), -1), ""}};
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (term.powers[f] == 0) continue;
    std::vector<ModelColumn> next;
    for (const ModelColumn& column : open) {
      const std::string prefix = column.name.empty() ? "" : column.name + "*";
      if (!factors[f].is_categorical()) {
        ModelColumn extended = column;
        extended.name = prefix + factors[f].name;
        if (term.powers[f] > 1) extended.name += fmt::format("^{}", term.powers[f]);
        next.push_back(extended);
        continue;
      }
      for (std::size_t j = 0; j + 1 < factors[f].level_names.size(); ++j) {
        ModelColumn extended = column;
        extended.contrasts[f] = static_cast<int>(j);
        extended.name = fmt::format("{}{}[{}]", prefix, factors[f].name, factors[f].level_names[j]);
        next.push_back(extended);
      }
    }
    open = std::move(next);
  }
  for (ModelColumn& column : open) {
    if (column.name.empty()) column.name = "1";
    columns.push_back(std::move(column));
  }
}

}  // namespace

int Term::order() const { return std::accumulate(powers.begin(), powers.end(), 0); }

std::string term_name(const Term& term, const std::vector<Factor>& factors) {
  std::string name;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (term.powers[f] == 0) continue;
    if (!name.empty()) name += '*';
    name += factors[f].name;
    if (term.powers[f] > 1) name += fmt::format("^{}", term.powers[f]);
  }
  return name.empty() ? "1" : name;
}

Model::Model(std::vector<Factor> factors, std::vector<Term> terms)
    : factors_(std::move(factors)), terms_(std::move(terms)) {
  std::set<std::vector<int>> seen;  // a cubic model of 50 factors has 23,000 terms
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const std::string name = term_name(terms_[t], factors_);
    if (!seen.insert(terms_[t].powers).second) {
      throw ModelError(fmt::format("model term '{}' is listed twice", name));
    }
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (factors_[f].is_categorical() && terms_[t].powers[f] > 1) {
        throw ModelError(fmt::format("model term '{}': '{}' is categorical and has no powers", name,
                                     factors_[f].name));
      }
    }
    append_columns(factors_, terms_[t], static_cast<int>(t), columns_);
  }
}

Model Model::with(const std::vector<std::string>& terms) const {
  std::vector<Term> all = terms_;
  const Model more = parse(terms, factors_);
  for (const Term& term : more.terms()) {
    if (std::find(all.begin(), all.end(), term) == all.end()) all.push_back(term);
  }
  return Model(factors_, std::move(all));
}

const std::vector<std::string>& Model::names() {
  static const std::vector<std::string> names{"linear", "pure-quadratic", "interactions",
                                              "quadratic", "cubic"};
  return names;
}

Model Model::named(std::string_view name, std::vector<Factor> factors) {
  const auto found = std::find(names().begin(), names().end(), name);
  if (found == names().end()) {
    throw ModelError(
        fmt::format("there is no model '{}'{}", name, did_you_mean_or_list(name, names())));
  }
  const bool cubes = name == "cubic";
  const bool squares = cubes || name == "quadratic" || name == "pure-quadratic";
  const bool interactions = cubes || name == "quadratic" || name == "interactions";
  std::vector<Term> terms{Term{std::vector<int>(factors.size(), 0)}};
  append_terms(factors, 1, false, terms);
  if (interactions && factors.size() > 1) append_terms(factors, 2, true, terms);
  for (std::size_t f = 0; squares && f < factors.size(); ++f) {
    if (!has_power(factors[f], 2)) continue;
    Term square{std::vector<int>(factors.size(), 0)};
    square.powers[f] = 2;
    terms.push_back(square);
  }
  if (cubes) append_terms(factors, 3, false, terms);
  return Model(std::move(factors), std::move(terms));
}

Model Model::parse(const std::vector<std::string>& texts, std::vector<Factor> factors) {
  std::vector<Term> terms;
  for (const std::string& text : texts) terms.push_back(parse_term(text, factors));
  return Model(std::move(factors), std::move(terms));
}

std::vector<std::string> Model::term_names() const {
  std::vector<std::string> names;
  for (const Term& term : terms_) names.push_back(term_name(term, factors_));
  return names;
}

std::vector<int> Model::columns_of(int term) const {
  // The columns are in the order of the terms.
  const auto first =
      std::lower_bound(columns_.begin(), columns_.end(), term,
                       [](const ModelColumn& column, int wanted) { return column.term < wanted; });
  std::vector<int> columns;
  for (auto at = first; at != columns_.end() && at->term == term; ++at) {
    columns.push_back(static_cast<int>(at - columns_.begin()));
  }
  return columns;
}

Eigen::RowVectorXd Model::row(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
  Eigen::RowVectorXd row(column_count());
  for (int c = 0; c < column_count(); ++c) {
    const ModelColumn& column = columns_[c];
    const Term& term = terms_[column.term];
    double value = 1;
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (column.contrasts[f] >= 0) {
        value *= contrast(column, f, static_cast<int>(coded[f]));
      } else {
        for (int power = 0; power < term.powers[f]; ++power) value *= coded[f];
      }
    }
    row[c] = value;
  }
  return row;
}

int Model::contrast(const ModelColumn& column, std::size_t f, int level) const {
  if (level == column.contrasts[f]) return 1;
  return level == static_cast<int>(factors_[f].level_names.size()) - 1 ? -1 : 0;
}

}  // namespace doetune::doe
