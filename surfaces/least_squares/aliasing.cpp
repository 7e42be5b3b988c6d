#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

#include "surfaces/least_squares/blocks.h"
#include "surfaces/least_squares/solution.h"

namespace doetune::surfaces {
namespace {

/// The intercept, the block contrasts, then the other columns of the model.
struct NamedColumns {
  std::vector<std::string> names;
  Eigen::MatrixXd x;
};

NamedColumns named_columns(const LeastSquaresProblem& problem) {
  const Eigen::MatrixXd all = columns_of(problem);
  const auto own = all.leftCols(problem.model.column_count());
  const auto contrasts = all.rightCols(all.cols() - own.cols());
  NamedColumns columns{{}, Eigen::MatrixXd(all.rows(), all.cols())};
  const auto take = [&](std::string name, const auto& column) {
    columns.x.col(static_cast<Eigen::Index>(columns.names.size())) = column;
    columns.names.push_back(std::move(name));
  };
  const std::vector<doe::ModelColumn>& model = problem.model.columns();
  for (Eigen::Index c = 0; c < own.cols(); ++c) {
    if (model[static_cast<std::size_t>(c)].name == "1") take("1", own.col(c));
  }
  const std::vector<std::string> blocks = block_names(problem.blocks);
  for (Eigen::Index c = 0; c < contrasts.cols(); ++c) {
    take(blocks[static_cast<std::size_t>(c)], contrasts.col(c));
  }
  for (Eigen::Index c = 0; c < own.cols(); ++c) {
    const std::string& name = model[static_cast<std::size_t>(c)].name;
    if (name != "1") take(name, own.col(c));
  }
  return columns;
}

std::string combination(const std::vector<std::pair<std::string, double>>& coefficients) {
  constexpr std::size_t kReadable = 4;
  if (coefficients.size() > kReadable) {
    return fmt::format("a combination of {} and {} more", coefficients[0].first,
                       coefficients.size() - 1);
  }
  std::string text;
  for (const auto& [name, coefficient] : coefficients) {
    const std::string sign =
        coefficient < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    const double size = std::abs(coefficient);
    const bool one = std::abs(size - 1) < 1e-6;
    if (name == "1") {
      text += fmt::format("{}{:.4g}", sign, size);
    } else {
      text += one ? sign + name : fmt::format("{}{:.4g} {}", sign, size, name);
    }
  }
  return text.empty() ? "0" : text;
}

/// Each column that is linearly dependent on earlier ones, written as a combination of them.
std::vector<std::string> dependencies(const NamedColumns& columns) {
  constexpr double kNothing = 1e-10, kRounding = 1e-8;
  std::vector<std::string> found;
  std::vector<Eigen::Index> kept;
  for (Eigen::Index c = 0; c < columns.x.cols(); ++c) {
    const Eigen::VectorXd column = columns.x.col(c);
    const Eigen::MatrixXd before = columns.x(Eigen::all, kept);
    Eigen::VectorXd coefficients(before.cols());
    if (before.cols() > 0) coefficients = before.colPivHouseholderQr().solve(column);
    if ((column - before * coefficients).norm() > kNothing * column.norm()) {
      kept.push_back(c);
      continue;
    }
    std::vector<std::pair<std::string, double>> parts;
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const double coefficient = coefficients[static_cast<Eigen::Index>(j)];
      if (std::abs(coefficient) < kRounding) continue;
      parts.emplace_back(columns.names[static_cast<std::size_t>(kept[j])], coefficient);
    }
    found.push_back(columns.names[static_cast<std::size_t>(c)] + " = " + combination(parts));
  }
  return found;
}

bool in_model(const doe::Model& model, std::size_t f) {
  return std::any_of(model.terms().begin(), model.terms().end(),
                     [f](const doe::Term& term) { return term.powers[f] > 0; });
}

/// Factors that never vary and levels without runs, each with a remedy.
std::vector<std::string> missing_variation(const LeastSquaresProblem& problem) {
  std::vector<std::string> missing;
  for (std::size_t f = 0; f < problem.model.factors().size(); ++f) {
    const doe::Factor& factor = problem.model.factors()[f];
    const Eigen::VectorXd column = problem.coded.col(static_cast<Eigen::Index>(f));
    if (!in_model(problem.model, f)) continue;
    const std::set<double> settings(column.begin(), column.end());
    if (settings.size() == 1) {
      missing.push_back(fmt::format(
          "factor '{}' has the value {} in every run: vary it or remove its terms from the model",
          factor.name, factor.format(factor.snap(factor.to_natural(column[0])))));
    } else if (factor.is_categorical() && settings.size() < factor.level_names.size()) {
      for (std::size_t level = 0; level < factor.level_names.size(); ++level) {
        if (settings.contains(static_cast<double>(level))) continue;
        missing.push_back(fmt::format(
            "factor '{}' has the level '{}' in no run: run it or remove it from the study",
            factor.name, factor.level_names[level]));
      }
    }
  }
  return missing;
}

/// The first few aliases as text, with the number omitted.
std::string listed(const std::vector<std::string>& aliases) {
  constexpr std::size_t kReadable = 8;
  const std::size_t shown = std::min(kReadable, aliases.size());
  const auto end = aliases.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string list = fmt::format("{}", fmt::join(aliases.begin(), end, ", "));
  if (shown < aliases.size()) list += fmt::format(" and {} more", aliases.size() - shown);
  return list;
}

std::string remedy(bool by_blocks) {
  return by_blocks
             ? "Move runs to other blocks, fit without blocks, or remove the terms from the model"
             : "Add runs that separate them (doetune augment), or remove the terms from the model";
}

}  // namespace

Eigen::MatrixXd columns_of(const LeastSquaresProblem& problem) {
  const Eigen::MatrixXd own = problem.model.matrix(problem.coded);
  const Eigen::MatrixXd contrasts = block_contrasts(problem.blocks, problem.coded.rows());
  Eigen::MatrixXd all(own.rows(), own.cols() + contrasts.cols());
  all << own, contrasts;
  return all;
}

std::string why_undetermined(const LeastSquaresProblem& problem) {
  const std::vector<std::string> missing = missing_variation(problem);
  if (!missing.empty()) return fmt::format("{}", fmt::join(missing, "; "));
  const NamedColumns columns = named_columns(problem);
  const std::vector<std::string> aliases = dependencies(columns);
  const std::string list = listed(aliases);
  if (problem.coded.rows() < columns.x.cols()) {
    return fmt::format(
        "{} runs cannot determine {} model terms: {}. Add at least {} runs (doetune augment) or "
        "choose a smaller model",
        problem.coded.rows(), columns.x.cols(), list, columns.x.cols() - problem.coded.rows());
  }
  if (aliases.empty()) {
    return "the runs hardly determine the model: its terms are too nearly collinear for the "
           "numerical precision. " +
           remedy(false);
  }
  const bool by_blocks = list.find("block[") != std::string::npos;
  return fmt::format("{}: {}. {}",
                     by_blocks ? "the blocks are confounded with terms of the model"
                               : "the runs do not determine the model, terms are aliased",
                     list, remedy(by_blocks));
}

}  // namespace doetune::surfaces
