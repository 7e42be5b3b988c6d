// Writes export.R.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/version.h"
#include "reports/exports/export.h"
#include "reports/exports/export_parts.h"
#include "reports/exports/script_text.h"

namespace doetune::reports {
namespace {

using Kind = surfaces::Transform::Kind;

constexpr const char* kCoding =
    R"(# Coded units: a numeric factor from -1 at its low end to 1 at its high end, a categorical one as
# sum-to-zero contrasts (of two levels, the first is 1).
range_coded <- function(x, low, high, scale = identity) {
  2 * (scale(x) - scale(low)) / (scale(high) - scale(low)) - 1
}
sum_coded <- function(x, levels) {
  contrasts <- contr.sum(length(levels))
  dimnames(contrasts) <- list(NULL, paste0("[", levels[-length(levels)], "]"))
  contrasts[match(x, levels), , drop = FALSE]
}
)";

constexpr const char* kReport =
    R"(# To six significant digits; `fits` has them all.
show <- function(table) {
  print(formatC(table, digits = 6, format = "g"), quote = FALSE, right = TRUE)
}
# R2 is relative to the variation inside blocks; without a constant, to zero.
report <- function(name, fit, null) {
  cat("\n", name, "\n", sep = "")
  show(coef(summary(fit)))
  cat(sprintf("sigma %.6g with %d degrees of freedom, R2 %.6g\n", summary(fit)$sigma,
              df.residual(fit), 1 - deviance(fit) / deviance(null)))
}
fits <- list()
)";

constexpr const char* kInstalled =
    R"(# MASS and nlme come with R: Debian's r-recommended.
installed <- function(package, name) {
  there <- requireNamespace(package, quietly = TRUE)
  cat("\n", name, "\n", if (!there) c("not fitted: the package ", package, " is missing\n"), sep = "")
  there
}
)";

/// A name in R syntax; names of factors and responses consist of letters, digits and underscores.
std::string r_name(const std::string& name) {
  static constexpr std::array kReserved{"if",   "else", "repeat", "while", "function",
                                        "for",  "next", "break",  "TRUE",  "FALSE",
                                        "NULL", "Inf",  "NaN",    "NA",    "in"};
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  return reserved || name.starts_with("NA_") ? "`" + name + "`" : name;
}

std::string literal_list(const std::vector<std::string>& texts, std::size_t indent) {
  std::vector<std::string> literals;
  for (const std::string& text : texts) literals.push_back(script_literal(text));
  return script_list("c(", literals, ")", indent);
}

std::string runs_table(const analysis::Analysis& analysis) {
  const std::vector<ExportColumn> columns = export_columns(analysis);
  std::string text =
      fmt::format("runs <- data.frame(row.names = seq_len({}))\n", columns.front().cells.size());
  for (const ExportColumn& column : columns) {
    std::vector<std::string> cells = column.cells;
    for (std::string& cell : cells) {
      if (cell.empty()) cell = "NA";
    }
    text += script_list(fmt::format("runs${} <- c(", r_name(column.name)), cells, ")\n", 2);
  }
  return text;
}

std::string coding_of(const doe::Factor& factor) {
  const std::string name = r_name(factor.name);
  if (factor.is_categorical()) {
    return fmt::format("  coded${} <- sum_coded(settings${}, {})\n", name, name,
                       literal_list(factor.level_names, 4));
  }
  const char* scale = factor.scale == doe::Scale::kLog2    ? ", log2"
                      : factor.scale == doe::Scale::kLog10 ? ", log10"
                                                           : "";
  return fmt::format("  coded${} <- range_coded(settings${}, {}, {}{})\n", name, name, factor.low,
                     factor.high, scale);
}

std::string code_function(const std::vector<doe::Factor>& factors) {
  std::string text =
      "code <- function(settings) {\n  coded <- data.frame(row.names = seq_along(settings[[1]]))\n";
  for (const doe::Factor& factor : factors) text += coding_of(factor);
  return text + "  coded\n}\n";
}

std::string transformed_response(const analysis::ResponseAnalysis& response) {
  const std::string name = r_name(response.response.name);
  const surfaces::Transform& transform = response.fit->transform;
  switch (transform.kind) {
    case Kind::kLog:
      return "log(" + name + ")";
    case Kind::kSqrt:
      return "sqrt(" + name + ")";
    case Kind::kInverse:
      return "1 / " + name;
    case Kind::kLogit:
      return "qlogis(" + name + ")";
    case Kind::kPower:
      return fmt::format("({}^{} - 1) / {}", name, transform.lambda, transform.lambda);
    case Kind::kNone:
      break;
  }
  return name;
}

std::string term_text(const doe::Term& term, const std::vector<doe::Factor>& factors) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (term.powers[f] == 0) continue;
    const std::string name = r_name(factors[f].name);
    if (!text.empty()) text += ":";
    text += term.powers[f] == 1 ? name : fmt::format("I({}^{})", name, term.powers[f]);
  }
  return text;
}

/// "log(y) ~ 1 + block + a + a:b + I(a^2)".
std::string formula(const analysis::ResponseAnalysis& response) {
  const doe::Model& model = response.fit->model;
  std::vector<std::string> terms = {response.fit->has_intercept() ? "1" : "0"};
  if (!block_levels(response).empty()) terms.emplace_back("block");
  for (const doe::Term& term : model.terms()) {
    if (term.order() > 0) terms.push_back(term_text(term, model.factors()));
  }
  return script_list(transformed_response(response) + " ~ ", terms, "", 2, " +");
}

/// Code for the runs of a response in coded units.
std::string data_of(const analysis::ResponseAnalysis& response) {
  const std::string& name = response.response.name;
  std::string text =
      fmt::format("data <- code(runs)\ndata${} <- runs${}\n", r_name(name), r_name(name));
  if (const auto levels = block_levels(response); !levels.empty()) {
    text += fmt::format("data$block <- sum_coded(runs${}, {})\n", block_column(name),
                        literal_list(levels, 2));
  }
  if (response.fit->weights.size() > 0) {
    text += fmt::format("data$.weight <- runs${}\n", weight_column(name));
  }
  if (has_whole_plots(response)) text += "data$whole_plot <- runs$whole_plot\n";
  return text;
}

std::string least_squares(const analysis::ResponseAnalysis& response, const std::string& weights) {
  const std::string name = r_name(response.response.name);
  const bool blocks = !block_levels(response).empty();
  return fmt::format(
      "fits${0} <- lm(terms(formula, keep.order = TRUE), data{1})\n"
      "report({2}, fits${0}, update(fits${0}, . ~ {3}{4}))\n",
      name, weights, script_literal(response.response.name),
      response.fit->has_intercept() ? "1" : "0", blocks ? " + block" : "");
}

std::string robust(const analysis::ResponseAnalysis& response, const std::string& weights) {
  const bool tukey = response.fit->loss == surfaces::Loss::kTukey;
  return fmt::format(
      "if (installed(\"MASS\", {1})) {{\n"
      "  fits${0} <- MASS::rlm(formula, data{2}, psi = MASS::psi.huber, maxit = 1000, acc = "
      "1e-12)\n"
      "{3}  show(coef(summary(fits${0})))\n"
      "  cat(sprintf(\"scale %.6g\\n\", fits${0}$s))\n}}\n",
      r_name(response.response.name), script_literal(response.response.name), weights,
      tukey ? fmt::format("  fits${0} <- MASS::rlm(formula, data{1}, psi = MASS::psi.bisquare, "
                          "init = fits${0},\n    maxit = 1000, acc = 1e-12)\n",
                          r_name(response.response.name), weights)
            : "");
}

std::string whole_plots(const analysis::ResponseAnalysis& response) {
  return fmt::format(
      "if (installed(\"nlme\", {1})) {{\n"
      "  fits${0} <- nlme::lme(formula, data, ~ 1 | whole_plot, na.action = na.omit,\n"
      "    control = nlme::lmeControl(tolerance = 1e-10, msTol = 1e-12))\n"
      "  show(summary(fits${0})$tTable)\n"
      "  print(nlme::VarCorr(fits${0}))\n}}\n",
      r_name(response.response.name), script_literal(response.response.name));
}

std::string section(const analysis::ResponseAnalysis& response) {
  std::string text = "\n";
  for (const std::string& note : export_notes(response)) text += script_comment(note);
  if (!response.fit) return text;
  text += data_of(response);
  text += "formula <- " + formula(response) + "\n";
  const std::string weights = response.fit->weights.size() > 0 ? ", weights = .weight" : "";
  if (has_whole_plots(response)) return text + whole_plots(response);
  return text +
         (is_robust(response) ? robust(response, weights) : least_squares(response, weights));
}

}  // namespace

std::string export_r(const analysis::Analysis& analysis) {
  const study::Study& study = analysis.directory->study;
  std::string text =
      script_comment(fmt::format("The study {}: its runs, and the fit of every response by R. "
                                 "Made by doetune {}.",
                                 study.name, version())) +
      "# At other settings: predict(fits$RESPONSE, code(list(FACTOR = SETTING, ...)), "
      "interval = \"prediction\")\n\n";
  text += runs_table(analysis) + "\n" + kCoding + code_function(study.factors) + "\n" + kReport;
  const bool needs_more = std::any_of(
      analysis.responses.begin(), analysis.responses.end(),
      [](const auto& response) { return is_robust(response) || has_whole_plots(response); });
  if (needs_more) text += kInstalled;
  for (const analysis::ResponseAnalysis& response : analysis.responses) text += section(response);
  return text;
}

}  // namespace doetune::reports
