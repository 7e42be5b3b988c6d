#include <fmt/format.h>

#include <map>

#include "reports/format.h"
#include "reports/range_bar.h"
#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"
#include "study/argument_template.h"

namespace doetune::reports {
namespace {

std::string badge_class(Status status) {
  switch (status) {
    case Status::kUnconfirmed:
      return "badge open";
    case Status::kInfeasible:
      return "badge bad";
    default:
      return "badge neutral";
  }
}

void write_settings(const Page& page, Markup& out) {
  const std::vector<doe::Factor>& factors = factors_of(page.analysis);
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  out.element("h3", optimum.feasible ? "Settings to use" : "Nearest settings");
  out.open("dl", {{"class", "settings"}});
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const doe::Factor& factor = factors[f];
    out.open("div").element("dt", factor.name).open("dd");
    out.element("strong", factor.format(optimum.best.settings[f]));
    if (!factor.unit.empty()) out.text(" " + factor.unit);
    if (factor.baseline) {
      out.element("span", " (now " + factor.format(*factor.baseline) + ")", {{"class", "quiet"}});
    }
    out.close().close();
  }
  out.close();
}

/// "✓ met; next run: 97 %": by the mean, and the probability for a single run.
Cell goal_cell(const surfaces::Goal* goal, const surfaces::Outlook& outlook) {
  if (goal == nullptr || !goal->is_limit()) return text_cell("–");
  Cell cell = text_cell(outlook.goal_met ? "✓ met" : "✗ missed");
  if (outlook.goal_met_probability) {
    cell.text += "; next run: " + percent(*outlook.goal_met_probability);
    cell.exact = exact_number(*outlook.goal_met_probability);
  }
  return cell;
}

Cell interval_cell(const std::optional<surfaces::Interval>& interval) {
  if (!interval) return {"not available"};
  return {interval_text(*interval),
          exact_number(interval->low) + " to " + exact_number(interval->high)};
}

Cell mean_cell(const surfaces::Outlook& outlook, const std::string& unit) {
  const double half =
      outlook.confidence_interval
          ? (outlook.confidence_interval->high - outlook.confidence_interval->low) / 2
          : 0;
  return {with_unit(number_to(outlook.mean, half), unit), exact_number(outlook.mean)};
}

std::vector<Cell> outlook_row(const Page& page, const ResponseAnalysis& response) {
  const surfaces::Optimum& optimum = *page.analysis.optimum;
  const std::string& name = response.response.name;
  const std::string& unit = response.response.unit;
  const surfaces::Goal* goal = goal_of(page.analysis, name);
  const surfaces::Outlook* outlook = outlook_of(optimum.best, name);
  const surfaces::Outlook* now = optimum.baseline ? outlook_of(*optimum.baseline, name) : nullptr;
  std::vector<Cell> row = {text_cell(name),
                           text_cell(goal != nullptr ? goal_text(*goal, unit) : "none")};
  if (outlook == nullptr) {
    row.insert(row.end(), {text_cell("no fit"), {"–"}, {"–"}, {"–"}, text_cell("")});
  } else {
    row.insert(row.end(), {goal_cell(goal, *outlook), mean_cell(*outlook, unit),
                           interval_cell(outlook->confidence_interval),
                           interval_cell(outlook->prediction_interval)});
    row.push_back(text_cell(""));
    row.back().markup = range_bar(*outlook, goal, now);
  }
  if (optimum.baseline) row.push_back(now != nullptr ? mean_cell(*now, unit) : Cell{"–"});
  return row;
}

void write_predictions(const Page& page, Markup& out) {
  std::vector<std::string> header = {"Response",
                                     "Goal",
                                     "Met?",
                                     "Predicted mean",
                                     "95 % for the mean",
                                     "95 % for the next run",
                                     "Prediction against goal"};
  if (page.analysis.optimum->baseline) header.push_back("Now, predicted");
  std::vector<std::vector<Cell>> rows;
  for (const ResponseAnalysis& response : page.analysis.responses) {
    rows.push_back(outlook_row(page, response));
  }
  write_table(header, rows, out, WhenNarrow::kList);
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
  const bool plain =
      !word.empty() &&
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") ==
          std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The study's command with its placeholders filled, or the bundled workload's.
/// What starts one run by hand; places that only a run has, such as {result}, stay as they are.
std::string as_command(const study::Study& study, const std::vector<double>& settings) {
  std::map<std::string, std::string> values;
  for (const study::Setting& setting : study.settings) values[setting.name] = setting.text;
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    values[study.factors[f].name] = study.factors[f].format(settings[f]);
  }
  std::vector<std::string> words = study.command;
  if (words.empty()) {
    words = {"doetune", "workload", study.workload};
    for (const auto& [name, value] : values)
      words.insert(words.end(), {"--" + name, "{" + name + "}"});
  }
  std::string line;
  for (const std::string& word : words) {
    const std::string filled = study::fill_template(word, [&](const std::string& name) {
      const auto found = values.find(name);
      return found == values.end() ? "{" + name + "}" : found->second;
    });
    line += (line.empty() ? "" : " ") + shell_word(filled);
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
  out.element("span", status_name(page.verdict.status),
              {{"class", badge_class(page.verdict.status)}});
  out.text(" " + page.verdict.headline).close();
  if (page.analysis.optimum) {
    write_settings(page, out);
    write_predictions(page, out);
  }
  write_caveats(page.verdict, out);
  out.open("p", {{"class", "next"}}).text("Next: ");
  if (!page.verdict.next_command.empty()) out.element("code", page.verdict.next_command).text(" ");
  out.text(page.verdict.next_reason + ".").close();
  if (page.analysis.optimum) write_copies(page, out);
}

}  // namespace doetune::reports
