#include "doe/evaluation/aliasing.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace doetune::doe {
namespace {

constexpr double kSame = 1e-9;

std::vector<std::string> column_names(const Model& model) {
  std::vector<std::string> names;
  for (const ModelColumn& column : model.columns()) names.push_back(column.name);
  return names;
}

/// The columns of a model and of the second-order terms it omits.
NamedMatrix all_columns(const Model& model, const Eigen::MatrixXd& coded) {
  const Model missing = missing_second_order(model);
  NamedMatrix all{{}, column_names(model), {}};
  for (const std::string& name : column_names(missing)) all.columns.push_back(name);
  all.values.resize(coded.rows(), model.column_count() + missing.column_count());
  all.values << model.matrix(coded), missing.matrix(coded);
  return all;
}

/// A column rounded to integers, so that equal columns have equal keys; sign chosen so that its
/// first nonzero entry is positive.
std::vector<long> sign_free(const Eigen::VectorXd& column, bool& negative) {
  std::vector<long> key;
  for (const double x : column) key.push_back(std::lround(x / kSame));
  const auto first = std::find_if(key.begin(), key.end(), [](long x) { return x != 0; });
  negative = first != key.end() && *first < 0;
  for (long& x : key) x = negative ? -x : x;
  return key;
}

}  // namespace

Model missing_second_order(const Model& model) {
  const Model quadratic = Model::named("quadratic", model.factors());
  std::vector<Term> missing;
  for (const Term& term : quadratic.terms()) {
    const bool listed =
        std::find(model.terms().begin(), model.terms().end(), term) != model.terms().end();
    if (term.order() > 0 && !listed) missing.push_back(term);
  }
  return Model(model.factors(), std::move(missing));
}

NamedMatrix alias_matrix(const Model& model, const Eigen::MatrixXd& coded,
                         const Eigen::MatrixXd& inverse_information) {
  const Model missing = missing_second_order(model);
  const Eigen::MatrixXd products = model.matrix(coded).transpose() * missing.matrix(coded);
  return {column_names(model), column_names(missing), inverse_information * products};
}

NamedMatrix correlation_map(const Model& model, const Eigen::MatrixXd& coded) {
  const NamedMatrix all = all_columns(model, coded);
  NamedMatrix map;
  Eigen::MatrixXd unit(all.values.rows(), all.values.cols());
  for (Eigen::Index c = 0; c < all.values.cols(); ++c) {
    const Eigen::VectorXd centered = all.values.col(c).array() - all.values.col(c).mean();
    if (centered.norm() <= kSame * all.values.col(c).norm()) continue;
    unit.col(static_cast<Eigen::Index>(map.columns.size())) = centered.normalized();
    map.columns.push_back(all.columns[c]);
  }
  map.rows = map.columns;
  const auto kept = unit.leftCols(static_cast<Eigen::Index>(map.columns.size()));
  map.values = (kept.transpose() * kept).cwiseAbs();
  return map;
}

std::vector<std::string> alias_sets(const Model& model, const Eigen::MatrixXd& coded) {
  const NamedMatrix all = all_columns(model, coded);
  struct Set {
    std::string text;
    bool negative;
    int members = 1;
  };
  std::vector<Set> sets;
  std::map<std::vector<long>, std::size_t> known;
  for (Eigen::Index c = 0; c < all.values.cols(); ++c) {
    bool negative = false;
    const auto key = sign_free(all.values.col(c), negative);
    const auto [found, fresh] = known.emplace(key, sets.size());
    if (fresh) {
      sets.push_back({all.columns[c], negative});
      continue;
    }
    Set& set = sets[found->second];
    set.text += (negative == set.negative ? " = " : " = -") + all.columns[c];
    ++set.members;
  }
  std::vector<std::string> texts;
  for (const Set& set : sets) {
    if (set.members > 1) texts.push_back(set.text);
  }
  return texts;
}

}  // namespace doetune::doe
