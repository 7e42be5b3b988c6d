#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/run_quality.h"
#include "analysis/surface_words.h"
#include "analysis/trust.h"
#include "analysis/verdict.h"
#include "cli/commands/commands.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/print_changes.h"
#include "cli/terminal/print_verdict.h"
#include "cli/terminal/profile_chart.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_canvas.h"
#include "reports/json/analysis_json.h"
#include "study/argument_template.h"

namespace doetune::cli {
namespace {

using analysis::short_number;

void print_coefficients(const surfaces::Fit& fit) {
  TextTable table({"term (coded)", "estimate", "std error", "df", "t", "p", "VIF"});
  for (const surfaces::Coefficient& c : fit.coefficients) {
    table.add({c.term, short_number(c.estimate), number_or_dash(c.std_error), number_or_dash(c.df),
               number_or_dash(c.t), c.p ? analysis::p_text(*c.p) : "-", number_or_dash(c.vif)});
  }
  fmt::print("{}", table.str());
}

void print_anova(const surfaces::Fit& fit) {
  if (fit.anova.empty()) return;
  TextTable table({"source", "df", "sum of squares", "mean square", "F", "p"});
  for (const surfaces::AnovaRow& row : fit.anova) {
    table.add({row.source, std::to_string(row.df), short_number(row.sum_of_squares),
               number_or_dash(row.mean_square), number_or_dash(row.f),
               row.p ? analysis::p_text(*row.p) : "-"});
  }
  fmt::print("{}", table.str());
}

void print_sequential(const surfaces::SequentialSummary& summary) {
  TextTable table({"model", "df", "F", "p", "lack of fit", "adj. R²", "pred. R²", "AICc"});
  bool aliased = false;
  for (const surfaces::SequentialStep& step : summary.steps) {
    const char* remark = !step.aliased.empty() ? " +" : step.model == summary.suggested ? " *" : "";
    aliased = aliased || !step.aliased.empty();
    table.add({step.model + remark, std::to_string(step.df), number_or_dash(step.f),
               step.p ? analysis::p_text(*step.p) : "-",
               step.lack_of_fit_p ? analysis::p_text(*step.lack_of_fit_p) : "-",
               number_or_dash(step.adjusted_r2), number_or_dash(step.predicted_r2),
               number_or_dash(step.aicc)});
  }
  fmt::print(
      "{}  F and p of the added terms; p of lack of fit\n"
      "  {}\n",
      table.str(), wrapped("* suggested: " + summary.reason, 2, kColumns));
  if (aliased) fmt::print("  + these runs do not determine all of its terms\n");
}

void print_split_plot(const surfaces::SplitPlot& split_plot) {
  TextTable table({"source", "df", "df of its error", "F", "p"});
  for (const surfaces::PartTest& test : split_plot.tests) {
    table.add({test.source, std::to_string(test.df), short_number(test.df_error),
               short_number(test.f), analysis::p_text(test.p)});
  }
  fmt::print("{}", table.str());
  fmt::print("  {} whole plots: variance between whole plots {}, within whole plots {}{}\n",
             split_plot.whole_plots, short_number(split_plot.whole_plot_variance),
             short_number(split_plot.run_variance),
             split_plot.note.empty() ? "" : "; " + split_plot.note);
}

/// The choice of surface, and the surface used instead of the polynomial.
void print_surface(const analysis::ResponseAnalysis& response) {
  if (response.choice) fmt::print("  {}\n", wrapped(response.choice->reason, 2, kColumns));
  if (!response.other) return;
  fmt::print("  surface: {}{}\n", doe::word_of(response.kind),
             response.fit ? " (the tables describe the polynomial)" : "");
  const auto* parametric = dynamic_cast<const surfaces::ParametricFit*>(response.other.get());
  if (parametric == nullptr) return;
  fmt::print("  {}{}, sigma {}, R² {:.4f}\n", parametric->model.equation,
             analysis::scale_words(parametric->transform), number_or_dash(parametric->sigma),
             parametric->r2);
  TextTable table({"parameter", "level", "estimate", "std error", "meaning"});
  for (const auto* estimates : {&parametric->estimates, &parametric->sizes}) {
    for (const surfaces::ParameterEstimate& estimate : *estimates) {
      table.add({estimate.name, estimate.level, short_number(estimate.estimate),
                 estimate.at_bound ? "at its bound" : number_or_dash(estimate.std_error),
                 estimate.meaning});
    }
  }
  fmt::print("{}", table.str());
}

void print_shape(const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  const analysis::FitDiagnostics& diagnostics = response.diagnostics;
  if (!fit.stationary_point) return;
  if (const std::string why = analysis::why_no_shape(response); !why.empty()) {
    fmt::print("  shape: {}\n", why);
    return;
  }
  const surfaces::StationaryPoint& point = *fit.stationary_point;
  std::string settings;
  for (std::size_t f = 0; f < point.settings.size(); ++f) {
    settings += fmt::format("{}{} {}", f == 0 ? "" : ", ", fit.model.factors()[f].name,
                            short_number(point.settings[f]));
  }
  fmt::print("  {}\n",
             wrapped(fmt::format("shape: a {} of {} at {}{}", point.kind, short_number(point.value),
                                 settings, point.inside_region ? "" : " (outside the region)"),
                     2, kColumns));
  if (!diagnostics.shape) return;
  const surfaces::ShapeCertainty& shape = *diagnostics.shape;
  fmt::print("  probability of a maximum {}, of a minimum {}, of a saddle {}\n",
             analysis::percent(shape.maximum), analysis::percent(shape.minimum),
             analysis::percent(shape.saddle));
}

/// What is worth acting on, and how many notes there are besides.
void print_findings(const std::vector<analysis::Finding>& found) {
  int notes = 0;
  for (const analysis::Finding& finding : found) {
    if (finding.weight == analysis::Finding::Weight::kNote) {
      ++notes;
      continue;
    }
    fmt::print("  {} {}\n    {}\n", coloured("!", Colour::kBad),
               wrapped(finding.sentence + ".", 4, kColumns),
               wrapped(finding.remedy + ".", 4, kColumns));
  }
  if (notes == 0) return;
  fmt::print("  {} {}: see `doetune report`, or findings of `doetune fit --json`\n",
             coloured("-", Colour::kFaint), analysis::count_of(notes, "further note"));
}

/// Prints the reliability of the surface, with the remedies for its findings, then the other
/// findings.
void print_trust(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response) {
  std::vector<analysis::Finding> found =
      analysis::findings(response, analysis.directory->path.string());
  const auto rest = std::stable_partition(found.begin(), found.end(),
                                          [](const auto& finding) { return finding.is_in_trust; });
  fmt::print("  {}\n", wrapped(analysis::trust(response).sentence, 2, kColumns));
  std::for_each(found.begin(), rest, [](const analysis::Finding& finding) {
    fmt::print("  {} {}\n", coloured("!", Colour::kBad),
               wrapped(finding.remedy + ".", 4, kColumns));
  });
  found.erase(found.begin(), rest);
  print_findings(found);
}

void print_fit(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response) {
  const std::string unit =
      response.response.unit.empty() ? "" : " [" + response.response.unit + "]";
  fmt::print("{}\n", coloured(response.response.name + unit, Colour::kStrong));
  if (!response.problem.empty()) fmt::print("  no surface: {}\n", response.problem);
  if (response.fallback) {
    const std::string caution =
        fmt::format("caution: a different model from the one planned is fitted ({}): {}",
                    response.fallback->model, response.fallback->reason);
    fmt::print("  {}\n", wrapped(caution, 4, kColumns));
  }
  print_surface(response);
  if (!response.fit) {
    fmt::print("\n");
    return;
  }
  const surfaces::Fit& fit = *response.fit;
  print_coefficients(fit);
  fmt::print("\n");
  print_anova(fit);
  fmt::print("\n  {} runs{}, sigma {}, R² {:.4f}, adjusted {}, predicted {}\n", fit.n,
             analysis::scale_words(fit.transform), number_or_dash(fit.sigma), fit.r2,
             number_or_dash(fit.adjusted_r2), number_or_dash(fit.predicted_r2));
  if (fit.split_plot) print_split_plot(*fit.split_plot);
  if (response.sequential) print_sequential(*response.sequential);
  if (response.selection) {
    fmt::print("  {}\n", wrapped(response.selection->warning, 2, kColumns));
  }
  if (!response.other) print_shape(response);
  print_trust(analysis, response);
  fmt::print("\n{}", profile_text(analysis, response, locale_is_utf8()));
}

}  // namespace

void describe_fit(Options& options) {
  add_fit_options(options);
  add_directory(options);
}

int command_fit(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  const analysis::Analysis analysis =
      analysis::analyse(directory, analysis_options(options, directory.study));
  say_warnings(analysis.warnings);
  const std::string json = reports::fit_json(analysis);
  if (!asks_otherwise(options)) {
    study::write_file_atomically(directory.path / "fit.json", json);
  }
  if (options.json()) {
    fmt::print("{}", json);
  } else {
    if (options.has("with-confirmation")) print_changes(of_the_plan(options, directory), analysis);
    for (const analysis::ResponseAnalysis& response : analysis.responses)
      print_fit(analysis, response);
    if (const auto found = analysis::run_findings(analysis); !found.empty()) {
      fmt::print("{}\n", coloured("runs", Colour::kStrong));
      print_findings(found);
    }
  }
  if (analysis.measured && !options.json()) print_verdict(analysis::verdict(analysis));
  const bool any_surface =
      std::any_of(analysis.responses.begin(), analysis.responses.end(),
                  [](const auto& response) { return response.surface() != nullptr; });
  if (!any_surface || analysis.completed() == 0) {
    say_next(next_of(analysis::verdict(analysis)));
    return kRunsMissing;
  }
  say_next(fmt::format("doetune optimize {}", study::shell_quoted(directory.path.string())));
  return kDone;
}

}  // namespace doetune::cli
