// Writes export.py.
#include <fmt/format.h>

#include "base/version.h"
#include "reports/exports/export.h"
#include "reports/exports/export_parts.h"
#include "reports/exports/script_text.h"

namespace doetune::reports {
namespace {

using Kind = surfaces::Transform::Kind;

constexpr const char* kHead = R"(import numpy as np
import pandas as pd
import statsmodels.api as sm

nan = float("nan")
)";

constexpr const char* kCoding = R"(
# Coded units: a numeric factor from -1 at its low end to 1 at its high end, a categorical one as
# sum-to-zero contrasts.
def range_coded(x, low, high, scale=lambda x: x):
    x = scale(np.asarray(x, dtype=float))
    return 2 * (x - scale(low)) / (scale(high) - scale(low)) - 1


def sum_coded(name, x, levels):
    x = pd.Series(list(x))
    last = (x == levels[-1]).astype(float)
    return {f"{name}[{level}]": (x == level).astype(float) - last for level in levels[:-1]}

)";

constexpr const char* kReport = R"(
def columns(coded, terms):
    """The model matrix: each term is the product of its columns of `coded`."""
    return pd.DataFrame({term: coded[factors].prod(axis=1) for term, factors in terms.items()},
                        index=coded.index)


# To six significant digits; `fits` has them all.
def report(name, fit):
    table = pd.DataFrame({"estimate": fit.params, "std_error": fit.bse, "t": fit.tvalues,
                          "p": fit.pvalues})
    print(f"\n{name}\n{table.to_string(float_format='{:.6g}'.format)}")


def report_errors(fit, null):
    """R2 is relative to the variation inside blocks; without a constant, to zero."""
    y, x = fit.model.wendog, fit.model.wexog[:, null]
    rest = sm.OLS(y, x).fit().ssr if null else sum(y**2)
    print(f"sigma {fit.scale**0.5:.6g} with {fit.df_resid:g} degrees of freedom, "
          f"R2 {1 - fit.ssr / rest:.6g}")


terms, fits = {}, {}
)";

std::string literal_list(const std::vector<std::string>& texts, std::size_t indent) {
  std::vector<std::string> literals;
  for (const std::string& text : texts) literals.push_back(script_literal(text));
  return script_list("[", literals, "]", indent);
}

std::string runs_table(const analysis::Analysis& analysis) {
  std::string text = "runs = pd.DataFrame({\n";
  for (const ExportColumn& column : export_columns(analysis)) {
    std::vector<std::string> cells = column.cells;
    for (std::string& cell : cells) {
      if (cell.empty()) cell = "nan";
    }
    text += script_list(fmt::format("    {}: [", script_literal(column.name)), cells, "],\n", 8);
  }
  return text + "})\n";
}

std::string coding_of(const doe::Factor& factor) {
  const std::string name = script_literal(factor.name);
  if (factor.is_categorical()) {
    return fmt::format("    coded.update(sum_coded({0}, settings[{0}], {1}))\n", name,
                       literal_list(factor.level_names, 8));
  }
  const char* scale = factor.scale == doe::Scale::kLog2    ? ", np.log2"
                      : factor.scale == doe::Scale::kLog10 ? ", np.log10"
                                                           : "";
  return fmt::format("    coded[{0}] = range_coded(settings[{0}], {1}, {2}{3})\n", name, factor.low,
                     factor.high, scale);
}

std::string code_function(const std::vector<doe::Factor>& factors) {
  std::string text = "\ndef code(settings):\n    coded = {}\n";
  for (const doe::Factor& factor : factors) text += coding_of(factor);
  return text + "    return pd.DataFrame(coded)\n\n";
}

std::string transformed_response(const surfaces::Transform& transform) {
  switch (transform.kind) {
    case Kind::kLog:
      return "np.log(y)";
    case Kind::kSqrt:
      return "np.sqrt(y)";
    case Kind::kInverse:
      return "1 / y";
    case Kind::kLogit:
      return "np.log(y) - np.log1p(-y)";
    case Kind::kPower:
      return fmt::format("(y**{} - 1) / {}", transform.lambda, transform.lambda);
    case Kind::kNone:
      break;
  }
  return "y";
}

/// The columns of `coded` whose product is a model column.
std::string factors_of_column(const doe::Model& model, const doe::ModelColumn& column) {
  const doe::Term& term = model.terms()[static_cast<std::size_t>(column.term)];
  std::vector<std::string> factors;
  for (std::size_t f = 0; f < model.factors().size(); ++f) {
    const doe::Factor& factor = model.factors()[f];
    const int contrast = column.contrasts[f];
    std::string name = factor.name;
    if (contrast >= 0) name += "[" + factor.level_names[static_cast<std::size_t>(contrast)] + "]";
    factors.insert(factors.end(), static_cast<std::size_t>(term.powers[f]), name);
  }
  return literal_list(factors, 8);
}

std::string terms_of(const analysis::ResponseAnalysis& response) {
  const doe::Model& model = response.fit->model;
  std::string text = fmt::format("terms[{}] = {{\n", script_literal(response.response.name));
  for (const doe::ModelColumn& column : model.columns()) {
    text +=
        fmt::format("    {}: {},\n", script_literal(column.name), factors_of_column(model, column));
  }
  const std::vector<std::string> levels = block_levels(response);
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const std::string name = script_literal("block[" + levels[i] + "]");
    text += fmt::format("    {0}: [{0}],\n", name);
  }
  return text + "}\n";
}

/// Code for the runs of a response in coded units: x, y, and their row indices.
std::string data_of(const analysis::ResponseAnalysis& response) {
  const std::string name = script_literal(response.response.name);
  std::string text = "coded = code(runs)\n";
  if (const auto levels = block_levels(response); !levels.empty()) {
    text +=
        fmt::format("coded = coded.assign(**sum_coded(\"block\", runs[{}], {}))\n",
                    script_literal(block_column(response.response.name)), literal_list(levels, 4));
  }
  text += fmt::format(
      "rows = runs[{0}].notna()\nx, y = columns(coded, terms[{0}])[rows], runs[{0}][rows]\n", name);
  const std::string transformed = transformed_response(response.fit->transform);
  return transformed == "y" ? text : text + "y = " + transformed + "\n";
}

/// The columns that R2 does not count as explained: the intercept and the blocks.
std::string null_columns(const analysis::ResponseAnalysis& response) {
  std::vector<std::string> null;
  const auto& columns = response.fit->model.columns();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].name == "1") null.push_back(std::to_string(c));
  }
  const std::size_t levels = block_levels(response).size();
  for (std::size_t i = 1; i < levels; ++i) null.push_back(std::to_string(columns.size() + i - 1));
  return script_list("[", null, "]", 4);
}

std::string fit_of(const analysis::ResponseAnalysis& response) {
  const std::string name = script_literal(response.response.name);
  const std::string weights =
      fmt::format("runs[{}][rows]", script_literal(weight_column(response.response.name)));
  const bool weighted = response.fit->weights.size() > 0;
  if (has_whole_plots(response)) {
    return fmt::format(
        "fits[{0}] = sm.MixedLM(y, x, groups=runs[\"whole_plot\"][rows]).fit(reml=True)\n"
        "report({0}, fits[{0}])\n"
        "print(\"variance of whole plots\", format(fits[{0}].cov_re.iloc[0, 0], \".6g\"),\n"
        "      \"of runs\", format(fits[{0}].scale, \".6g\"))\n",
        name);
  }
  if (is_robust(response)) {
    const bool tukey = response.fit->loss == surfaces::Loss::kTukey;
    const std::string root = weighted ? "root = np.sqrt(" + weights + ")\n" : "";
    const char* data = weighted ? "y * root, x.mul(root, axis=0)" : "y, x";
    return root +
           fmt::format(
               "fits[{0}] = sm.RLM({1}, M=sm.robust.norms.HuberT(1.345)).fit(maxiter=1000, "
               "tol=1e-12)\n{2}report({0}, fits[{0}])\n"
               "print(\"scale\", format(fits[{0}].scale, \".6g\"))\n",
               name, data,
               tukey ? fmt::format("fits[{0}] = sm.RLM({1}, M=sm.robust.norms.TukeyBiweight(4.685))"
                                   ".fit(\n    start_params=fits[{0}].params, maxiter=1000, "
                                   "tol=1e-12)\n",
                                   name, data)
                     : "");
  }
  return fmt::format(
      "fits[{0}] = {1}\nreport({0}, fits[{0}])\n"
      "report_errors(fits[{0}], {2})\n",
      name, weighted ? "sm.WLS(y, x, weights=" + weights + ").fit()" : "sm.OLS(y, x).fit()",
      null_columns(response));
}

std::string section(const analysis::ResponseAnalysis& response) {
  std::string text = "\n";
  for (const std::string& note : export_notes(response)) text += script_comment(note);
  if (!response.fit) return text;
  return text + terms_of(response) + data_of(response) + fit_of(response);
}

}  // namespace

std::string export_python(const analysis::Analysis& analysis) {
  const study::Study& study = analysis.directory->study;
  std::string text =
      "#!/usr/bin/env python3\n" +
      script_comment(fmt::format("The study {}: its runs, and the fit of every response by "
                                 "statsmodels. Made by doetune {}.",
                                 study.name, version())) +
      "# At other settings: fits[RESPONSE].get_prediction(columns(code({FACTOR: "
      "[SETTING], ...}), terms[RESPONSE]))\n";
  text += kHead + runs_table(analysis) + kCoding + code_function(study.factors) + kReport;
  for (const analysis::ResponseAnalysis& response : analysis.responses) text += section(response);
  return text;
}

}  // namespace doetune::reports
