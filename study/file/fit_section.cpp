#include "study/file/sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_name.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

std::vector<std::string> names_of(const std::vector<doe::Factor>& factors, bool categorical) {
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) {
    if (factor.is_categorical() == categorical) names.push_back(factor.name);
  }
  return names;
}

/// Checks that `factor` names a numeric factor and `by` a categorical one.
void check_factor(const YAML::Node& node, const char* key, bool categorical,
                  const std::vector<doe::Factor>& factors, const std::filesystem::path& file) {
  if (!node[key]) return;
  const std::vector<std::string> names = names_of(factors, categorical);
  const std::string name = node[key].Scalar();
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  fail_at(file, node[key],
          fmt::format("fit.{}: '{:.60}' is not a {} factor{}", key, name,
                      categorical ? "categorical" : "numeric",
                      names.empty() ? "; the study has none" : did_you_mean_or_list(name, names)));
}

}  // namespace

FitSettings read_fit(const YAML::Node& node, const FitSettings& otherwise,
                     const std::vector<doe::Factor>& factors, const std::filesystem::path& file) {
  if (!node) return otherwise;
  const FitSettings fit{choice_at(node, "surface", otherwise.surface),
                        text_at(node, "factor", otherwise.factor),
                        text_at(node, "by", otherwise.by),
                        choice_at(node, "selection", otherwise.selection),
                        choice_at(node, "loss", otherwise.loss),
                        choice_at(node, "variance", otherwise.variance),
                        choice_at(node, "block", otherwise.block)};
  check_factor(node, "factor", false, factors, file);
  check_factor(node, "by", true, factors, file);
  if (is_parametric(fit.surface) && fit.factor.empty()) {
    fail_at(file, node,
            fmt::format("fit: surface {} needs 'factor', its numeric factor: {}",
                        doe::word_of(fit.surface), fmt::join(names_of(factors, false), ", ")));
  }
  return fit;
}

}  // namespace doetune::study
