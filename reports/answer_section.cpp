#include <fmt/format.h>

#include "reports/format.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

std::string badge_class(Status status) {
  switch (status) {
    case Status::kUnconfirmed: return "badge open";
    case Status::kInfeasible: return "badge bad";
    default: return "badge neutral";
  }
}

void write_settings(const Page& page, Markup& out) {
  const std::vector<doe::Factor>& factors = factors_of(page.analysis);
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  out.open("div", {{"class", "settings"}});
  out.element("h3", optimum.feasible ? "Settings to use" : "Nearest settings");
  out.open("dl");
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const doe::Factor& factor = factors[f];
    out.element("dt", factor.name);
    out.open("dd").element("strong", factor.format(optimum.best.settings[f]));
    if (!factor.unit.empty()) out.text(" " + factor.unit);
    if (factor.baseline) {
      out.element("span", fmt::format(" now {}", factor.format(*factor.baseline)),
                  {{"class", "quiet"}});
    }
    out.close();
  }
  out.close().close();
}

std::string goal_verdict(const surfaces::Goal* goal, const surfaces::Outlook& outlook) {
  if (goal == nullptr || !goal->is_limit()) return "–";
  return outlook.goal_met ? "✓ met" : "✗ missed";
}

Cell interval_cell(const std::optional<surfaces::Interval>& interval) {
  if (!interval) return {"not available"};
  return {interval_text(*interval),
          exact_number(interval->low) + " to " + exact_number(interval->high)};
}

Cell mean_cell(const surfaces::Outlook& outlook, const std::string& unit) {
  const double half = outlook.confidence_interval
                          ? (outlook.confidence_interval->high - outlook.confidence_interval->low) / 2
                          : 0;
  return {with_unit(number_to(outlook.mean, half), unit), exact_number(outlook.mean)};
}

std::vector<Cell> outlook_row(const Page& page, const ResponseAnalysis& response) {
  const Analysis& analysis = page.analysis;
  const surfaces::Outlook* outlook = outlook_of(analysis.optimum->best, response.response.name);
  const surfaces::Goal* goal = goal_of(analysis, response.response.name);
  const std::string& unit = response.response.unit;
  std::vector<Cell> row = {text_cell(response.response.name),
                           text_cell(goal != nullptr ? goal_text(*goal, unit) : "–")};
  if (analysis.optimum->baseline) {
    const surfaces::Outlook* base = outlook_of(*analysis.optimum->baseline, response.response.name);
    row.push_back(base != nullptr ? mean_cell(*base, unit) : Cell{"–"});
  }
  if (outlook == nullptr) {
    row.insert(row.end(), {{"no fit"}, {"–"}, {"–"}, text_cell("–"), {"–"}});
    return row;
  }
  const bool is_limit = goal != nullptr && goal->is_limit();
  row.insert(row.end(), {mean_cell(*outlook, unit), interval_cell(outlook->confidence_interval),
                         interval_cell(outlook->prediction_interval),
                         text_cell(goal_verdict(goal, *outlook))});
  row.push_back(is_limit && outlook->goal_met_probability
                    ? Cell{percent(*outlook->goal_met_probability),
                           exact_number(*outlook->goal_met_probability)}
                    : Cell{"–"});
  return row;
}

void write_predictions(const Page& page, Markup& out) {
  std::vector<std::string> header = {"Response", "Goal"};
  if (page.analysis.optimum->baseline) header.push_back("Now, predicted");
  for (const char* title : {"Predicted", "95 % for the mean", "95 % for the next run",
                            "Goal, by the mean", "Next run meets it"}) {
    header.emplace_back(title);
  }
  std::vector<std::vector<Cell>> rows;
  for (const ResponseAnalysis& response : page.analysis.responses) {
    rows.push_back(outlook_row(page, response));
  }
  write_table(header, rows, out);
}

/// A setting as a YAML scalar; words are quoted, for YAML would read `no` or `1e3` as other things.
std::string yaml_scalar(const doe::Factor& factor, double natural) {
  if (!factor.is_categorical()) return factor.format(natural);
  std::string quoted = "\"";
  for (const char c : factor.format(natural)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string as_yaml(const std::vector<doe::Factor>& factors, const std::vector<double>& settings) {
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    text += fmt::format("{}: {}\n", factors[f].name, yaml_scalar(factors[f], settings[f]));
  }
  return text;
}

/// A word as a POSIX shell reads it back unchanged.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The study's command with its placeholders filled, or the bundled workload's.
std::string as_command(const study::Study& study, const std::vector<double>& settings) {
  std::vector<std::string> words = study.command;
  if (words.empty()) {
    words = {"doetune", "workload", study.workload};
    for (const doe::Factor& factor : study.factors) {
      words.insert(words.end(), {"--" + factor.name, "{" + factor.name + "}"});
    }
  }
  std::string line;
  for (std::string word : words) {
    for (std::size_t f = 0; f < study.factors.size(); ++f) {
      const std::string place = "{" + study.factors[f].name + "}";
      const std::string value = study.factors[f].format(settings[f]);
      for (std::size_t at = word.find(place); at != std::string::npos;
           at = word.find(place, at + value.size())) {
        word.replace(at, place.size(), value);
      }
    }
    line += (line.empty() ? "" : " ") + shell_word(word);
  }
  return line;
}

void write_copies(const Page& page, Markup& out) {
  const study::Study& study = page.analysis.directory->study;
  const std::vector<double>& settings = page.analysis.optimum->best.settings;
  out.open("div", {{"class", "copies"}});
  out.element("pre", as_yaml(study.factors, settings), {{"aria-label", "settings as YAML"}});
  if (!study.command.empty() || !study.workload.empty()) {
    out.element("pre", as_command(study, settings), {{"aria-label", "settings as a command"}});
  }
  out.close();
}

void write_caveats(const Verdict& verdict, Markup& out) {
  if (verdict.caveats.empty()) return;
  out.open("ul", {{"class", "caveats"}});
  for (const std::string& caveat : verdict.caveats) out.element("li", caveat);
  out.close();
}

}  // namespace

void write_answer(const Page& page, Markup& out) {
  out.open("p", {{"class", "verdict"}});
  out.element("span", status_name(page.verdict.status), {{"class", badge_class(page.verdict.status)}});
  out.text(" " + page.verdict.headline).close();
  if (page.analysis.optimum) {
    out.open("div", {{"class", "answer"}});
    write_settings(page, out);
    out.open("div", {{"class", "predictions"}});
    write_predictions(page, out);
    write_caveats(page.verdict, out);
    out.close().close();
  } else {
    write_caveats(page.verdict, out);
  }
  out.open("p", {{"class", "next"}}).text("Next: ");
  out.element("code", page.verdict.next_command).text(" " + page.verdict.next_reason + ".").close();
  if (page.analysis.optimum) write_copies(page, out);
}

}  // namespace doetune::reports
