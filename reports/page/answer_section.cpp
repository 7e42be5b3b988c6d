// The first screen: recommended settings, predicted responses and their confirmation.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/best_run.h"
#include "analysis/confirmation.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/settings_forms.h"
#include "analysis/today.h"
#include "reports/figures/range_bar.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

/// The page and the result of its confirmation runs.
struct Answer {
  const Page& page;
  std::optional<analysis::Confirmation> confirmation;

  const analysis::Analysis& analysis() const { return page.analysis; }

  /// Null if it was not measured.
  const analysis::ConfirmedResponse* confirmed(const std::string& name) const {
    if (!confirmation) return nullptr;
    for (const analysis::ConfirmedResponse& response : confirmation->responses) {
      if (response.name == name) return &response;
    }
    return nullptr;
  }

  /// Whether what to expect at the optimum differs from what the surfaces predict.
  bool any_expected() const {
    const auto& predictions = analysis().optimum->best.predictions;
    return std::any_of(predictions.begin(), predictions.end(),
                       [](const auto& predicted) { return predicted.expected.has_value(); });
  }

  bool any_confirmed() const { return confirmation && !confirmation->responses.empty(); }

  bool baseline_measured() const {
    return any_confirmed() && confirmation->responses.front().baseline.has_value();
  }
};

std::string badge_class(analysis::Status status) {
  switch (status) {
    case analysis::Status::kUnconfirmed:
    case analysis::Status::kNoGain:
    case analysis::Status::kInconclusive:
      return "badge open";
    case analysis::Status::kInfeasible:
    case analysis::Status::kNotConfirmed:
      return "badge bad";
    case analysis::Status::kConfirmed:
      return "badge good";
    default:
      return "badge neutral";
  }
}

const char* title_of_settings(analysis::Status status) {
  switch (status) {
    case analysis::Status::kInfeasible:
      return "Nearest configuration";
    case analysis::Status::kNotConfirmed:
      return "Configuration that was predicted to be best";
    case analysis::Status::kNoGain:
      return "Configuration that is no better than the baseline";
    default:
      return "Configuration to use";
  }
}

void write_settings(const Page& page, Markup& out) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(page.analysis);
  out.element("h3", title_of_settings(page.verdict.status));
  out.open("dl", {{"class", "settings"}});
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const doe::Factor& factor = factors[f];
    out.open("div").element("dt", factor.name).open("dd");
    out.element("strong", factor.format(page.analysis.optimum->best.settings[f]));
    if (!factor.unit.empty()) out.text(" " + factor.unit);
    if (factor.baseline) {
      out.element("span", " (baseline " + factor.format(*factor.baseline) + ")",
                  {{"class", "quiet"}});
    }
    out.close().close();
  }
  out.close();
}

/// The best measured run: the answer if no optimum can be predicted.
void write_measured(const Page& page, Markup& out) {
  const study::StudyDirectory& directory = *page.analysis.directory;
  const std::vector<doe::Factor>& factors = directory.study.factors;
  const int run = page.analysis.measured->run;
  const std::vector<double>& settings =
      directory.plan.runs[static_cast<std::size_t>(run - 1)].settings;
  out.element("h3", "Best measured run");
  std::vector<std::vector<Cell>> rows;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    rows.push_back(
        {text_cell(factors[f].name),
         text_cell(analysis::with_unit(factors[f].format(settings[f]), factors[f].unit))});
  }
  for (const auto& [name, value] : page.analysis.records.at(run).responses) {
    rows.push_back(
        {text_cell(name), text_cell(analysis::with_unit(analysis::short_number(value),
                                                        analysis::unit_of(page.analysis, name)))});
  }
  write_table({"Factor or response", fmt::format("Run {}", run)}, rows, out);
}

/// Makes each word of a line unbreakable, so that none is broken at a hyphen.
void write_words(const std::string& line, Markup& out) {
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    out.element("span", line.substr(begin, end - begin));
    if (end < line.size()) out.text(" ");
    begin = end + 1;
  }
}

void write_form(const char* title, const std::string& text, Markup& out) {
  if (text.empty()) return;
  out.open("div").element("small", title, {{"class", "quiet"}});
  out.open("pre", {{"aria-label", std::string("settings ") + title}});
  text.find('\n') == std::string::npos ? write_words(text, out) : void(out.text(text));
  out.close().close();
}

void write_forms(const Page& page, Markup& out) {
  const study::Study& study = page.analysis.directory->study;
  const std::vector<double>& settings = page.analysis.optimum->best.settings;
  out.element("h3", "The configuration, to copy");
  out.open("div", {{"class", "copies"}});
  write_form("as the server's command", analysis::settings_as_server_command(study, settings), out);
  write_form("as a command", analysis::settings_as_command(study, settings), out);
  write_form("as YAML", analysis::settings_as_yaml(study.factors, settings), out);
  out.close();
}

/// The gain of every ramp goal, or of all responses if there is none; measured gains if available.
void write_gains(const Answer& answer, Markup& out) {
  const analysis::Analysis& analysis = answer.analysis();
  if (const std::string left_out = analysis::left_out_without_baseline(analysis);
      !left_out.empty()) {
    out.element("p", left_out);
    return;
  }
  if (!analysis.details || analysis.details->gains.empty() || !analysis::can_gain(analysis) ||
      analysis::is_at_today(analysis)) {
    return;
  }
  const auto is_ramp = [&](const std::string& name) {
    const surfaces::Goal* goal = analysis::goal_of(analysis, name);
    return goal != nullptr && !goal->is_limit();
  };
  const std::vector<surfaces::Gain>& gains = analysis.details->gains;
  const bool any_ramp =
      std::any_of(gains.begin(), gains.end(), [&](const auto& gain) { return is_ramp(gain.name); });
  out.open("p", {{"class", "gain"}});
  out.text(answer.baseline_measured() ? "Relative to the baseline, measured: "
                                      : "Relative to the baseline, predicted: ");
  bool first = true;
  for (const surfaces::Gain& predicted : gains) {
    if (any_ramp && !is_ramp(predicted.name)) continue;
    const analysis::ConfirmedResponse* confirmed = answer.confirmed(predicted.name);
    const bool measured = confirmed != nullptr && confirmed->gain;
    if (answer.baseline_measured() && !measured) continue;
    const std::string& unit = analysis.directory->study.find_response(predicted.name)->unit;
    const surfaces::Gain& gain = measured ? *confirmed->gain : predicted;
    out.text((first ? "" : "; ") + predicted.name + " ");
    out.element("strong", analysis::gain_text(gain, unit));
    first = false;
  }
  out.text(".").close();
}

Cell interval_cell(const std::optional<surfaces::Interval>& interval) {
  if (!interval) return {"not available"};
  return {analysis::interval_text(*interval),
          analysis::exact_number(interval->low) + " to " + analysis::exact_number(interval->high)};
}

using OptionalGoal = std::optional<surfaces::Goal>;

/// A mean with the digits that the prediction's interval leaves.
Cell mean_cell(double mean, const surfaces::ResponsePrediction& predicted, const OptionalGoal& goal,
               const std::string& unit) {
  const auto& interval = predicted.confidence_interval;
  return {analysis::with_unit(analysis::number_beside(mean, analysis::half_width(interval), goal),
                              unit),
          analysis::exact_number(mean)};
}

Cell measured_cell(const surfaces::Prediction& measured, const OptionalGoal& goal,
                   const std::string& unit) {
  return {analysis::with_unit(analysis::mean_text(measured, goal), unit),
          analysis::exact_number(measured.response())};
}

/// A small explanatory note under a value.
std::string remark(const std::string& text) {
  return Markup().element("small", text, {{"class", "quiet"}}).take();
}

/// The kind of mean, unless it is arithmetic.
std::string mean_remark(const surfaces::Prediction& measured) {
  if (measured.transform == surfaces::Transform::kNone) return "";
  return remark(analysis::mean_words(measured.transform));
}

/// "✓ 218 images/s, in 5 runs, expected 210 to 226".
Cell confirmed_cell(const analysis::ConfirmedResponse* response) {
  if (response == nullptr) return {"–"};
  Cell cell = measured_cell(response->measured, response->goal, response->unit);
  if (response->agrees) cell.text = (*response->agrees ? "✓ " : "✗ ") + cell.text;
  cell.markup =
      mean_remark(response->measured) + remark("in " + analysis::count_of(response->runs, "run"));
  if (response->joint_range) {
    cell.markup += remark("expected " + analysis::interval_text(*response->joint_range));
  }
  return cell;
}

/// The baseline as measured with the confirmation runs; otherwise the prediction, with the mean of
/// the plan's own runs.
Cell today_cell(const analysis::ConfirmedResponse* confirmed,
                const surfaces::ResponsePrediction* now,
                const std::optional<analysis::MeasuredToday>& measured, const OptionalGoal& goal,
                const std::string& unit) {
  if (confirmed != nullptr && confirmed->baseline) {
    Cell cell = measured_cell(*confirmed->baseline, goal, unit);
    cell.markup = remark("in " + analysis::count_of(confirmed->baseline_runs, "run"));
    return cell;
  }
  if (now == nullptr) return {"–"};
  Cell cell = mean_cell(now->mean, *now, goal, unit);
  cell.markup = remark("predicted");
  if (measured) {
    cell.markup += remark(fmt::format(
        "measured {} in {}", analysis::with_unit(analysis::mean_text(measured->mean, goal), unit),
        analysis::count_of(measured->runs, "run")));
  }
  return cell;
}

/// "at most 1 s", whether the measured or predicted mean meets it, and the probability that a
/// single run does, or the mean where the limit is of the mean.
Cell goal_cell(const surfaces::Goal* goal, const surfaces::ResponsePrediction* predicted,
               const analysis::ConfirmedResponse* confirmed, const std::string& unit) {
  if (goal == nullptr) return text_cell("none");
  Cell cell = text_cell(analysis::goal_text(*goal, unit));
  if (predicted == nullptr || !goal->is_limit()) return cell;
  std::string met = predicted->goal_met ? "✓ met on average" : "✗ not met on average";
  if (confirmed != nullptr && confirmed->limit) {
    constexpr const char* kWords[] = {"✓ met", "✓ met, not significantly", "✗ not met"};
    met = kWords[static_cast<std::size_t>(*confirmed->limit)];
  }
  const bool of_mean = predicted->mean_met_probability.has_value();
  const auto& probability =
      of_mean ? predicted->mean_met_probability : predicted->goal_met_probability;
  if (probability) {
    met += (of_mean ? "; mean: " : "; next run: ") + analysis::chance_text(*probability);
    cell.exact = analysis::exact_number(*probability);
  }
  cell.markup = remark(met);
  return cell;
}

std::optional<double> today(const analysis::ConfirmedResponse* confirmed,
                            const surfaces::ResponsePrediction* now) {
  if (confirmed != nullptr && confirmed->baseline) return confirmed->baseline->response();
  return now == nullptr ? std::nullopt : std::optional(now->mean);
}

std::vector<Cell> prediction_row(const Answer& answer, const analysis::ResponseAnalysis& response) {
  const surfaces::Optimum& optimum = *answer.analysis().optimum;
  const std::string& name = response.response.name;
  const std::string& unit = response.response.unit;
  const surfaces::Goal* goal = analysis::goal_of(answer.analysis(), name);
  const surfaces::ResponsePrediction* predicted = analysis::prediction_of(optimum.best, name);
  const surfaces::ResponsePrediction* now =
      optimum.baseline ? analysis::prediction_of(*optimum.baseline, name) : nullptr;
  const analysis::ConfirmedResponse* confirmed = answer.confirmed(name);
  std::vector<Cell> row = {text_cell(name)};
  const OptionalGoal wanted = goal == nullptr ? std::nullopt : OptionalGoal(*goal);
  if (optimum.baseline) {
    const auto measured = analysis::measured_today(answer.analysis(), response);
    row.push_back(today_cell(confirmed, now, measured, wanted, unit));
  }
  if (predicted == nullptr) {
    row.insert(row.end(), answer.any_expected() ? 4 : 3, text_cell("no fit"));
  } else {
    row.push_back(mean_cell(predicted->mean, *predicted, wanted, unit));
    if (answer.any_expected()) {
      row.push_back(
          mean_cell(predicted->expected.value_or(predicted->mean), *predicted, wanted, unit));
    }
    row.insert(row.end(), {interval_cell(predicted->confidence_interval),
                           interval_cell(predicted->prediction_interval)});
  }
  if (answer.any_confirmed()) row.push_back(confirmed_cell(confirmed));
  row.push_back(goal_cell(goal, predicted, confirmed, unit));
  row.push_back(text_cell(""));
  if (predicted == nullptr) return row;
  const auto measured =
      confirmed == nullptr ? std::nullopt : std::optional(confirmed->measured.response());
  row.back().markup = range_bar(*predicted, goal, today(confirmed, now), measured);
  return row;
}

/// The legend of the bars, raw like these: both are omitted in text-only formats.
void write_legend(const Answer& answer, Markup& out) {
  std::string text = fmt::format(
      "Dot: {} mean; thick line: its 95 % interval; thin line: 95 % interval of the next run",
      answer.any_expected() ? "expected" : "predicted");
  if (answer.analysis().optimum->baseline) text += "; square: baseline";
  if (answer.any_confirmed()) text += "; diamond: confirmation runs";
  const auto& goals = answer.analysis().goals;
  const bool limited = std::any_of(goals.begin(), goals.end(),
                                   [](const auto& goal) { return goal.second.is_limit(); });
  text += limited ? "; shaded: the goal is met." : ".";
  if (answer.any_expected()) {
    text +=
        " Settings that are chosen because they look best look better than they are: the expected "
        "mean and both ranges allow for that.";
  }
  out.raw(Markup().element("p", text, {{"class", "quiet legend"}}).take());
}

void write_predictions(const Answer& answer, Markup& out) {
  std::vector<std::string> header = {"Response"};
  if (answer.analysis().optimum->baseline) header.emplace_back("Baseline");
  header.emplace_back("Predicted mean");
  if (answer.any_expected()) header.emplace_back("Expected mean");
  header.insert(header.end(), {"95 % for the mean", "95 % for the next run"});
  if (answer.any_confirmed()) header.emplace_back("Confirmed mean");
  header.insert(header.end(), {"Goal", "Compared with the goal"});
  std::vector<std::vector<Cell>> rows;
  for (const analysis::ResponseAnalysis& response : answer.analysis().responses) {
    rows.push_back(prediction_row(answer, response));
  }
  out.element("h3", "Predicted responses");
  write_table(header, rows, out, WhenNarrow::kList);
  write_legend(answer, out);
}

void write_caveats(const analysis::Verdict& verdict, Markup& out) {
  if (verdict.caveats.empty()) return;
  out.open("ul", {{"class", "caveats"}});
  for (const std::string& caveat : verdict.caveats) out.element("li", caveat);
  out.close();
}

void write_next(const analysis::Verdict& verdict, Markup& out) {
  out.open("p", {{"class", "next"}}).text("Next: ");
  if (!verdict.next_command.empty()) out.element("code", verdict.next_command).text(" ");
  out.text(verdict.next_reason + ".").close();
}

}  // namespace

void write_answer(const Page& page, Markup& out) {
  const Answer answer{page, analysis::confirmation_of(page.analysis)};
  out.open("p", {{"class", "verdict"}});
  out.element("span", analysis::status_name(page.verdict.status),
              {{"class", badge_class(page.verdict.status)}});
  out.text(" " + page.verdict.headline).close();
  if (page.analysis.optimum) {
    write_gains(answer, out);
    write_settings(page, out);
    if (const std::string best = analysis::preference_text(page.analysis); !best.empty()) {
      out.element("p", best);
    }
    write_predictions(answer, out);
  }
  if (page.analysis.measured) write_measured(page, out);
  write_caveats(page.verdict, out);
  write_next(page.verdict, out);
  if (page.analysis.optimum) write_forms(page, out);
}

}  // namespace doetune::reports
