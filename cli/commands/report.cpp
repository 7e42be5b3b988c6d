#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/verdict.h"
#include "base/json_format.h"
#include "base/nearest_name.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/files/desktop.h"
#include "cli/files/figure_files.h"
#include "cli/options/run_numbers.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/print_verdict.h"
#include "cli/terminal/terminal.h"
#include "reports/documents/report_formats.h"
#include "reports/documents/write_report.h"
#include "reports/json/analysis_json.h"
#include "reports/json/json_parts.h"

namespace doetune::cli {
namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> known_formats() {
  std::vector<std::string> known;
  for (const reports::ReportFormat& format : reports::report_formats()) {
    known.emplace_back(format.name);
  }
  known.insert(known.end(), figure_kinds().begin(), figure_kinds().end());
  return known;
}

/// The requested formats, after checking that they are known and can be made.
std::vector<std::string> formats_of(const Options& options) {
  const std::vector<std::string> known = known_formats();
  const std::vector<std::string> formats = split_list(options.text("format", "html"));
  if (formats.empty()) {
    throw UsageError(fmt::format("--format: expected one or more of {}", fmt::join(known, ", ")));
  }
  for (const std::string& format : formats) {
    if (contains(known, format)) {
      if (contains(figure_kinds(), format)) check_figure_converter();
      continue;
    }
    throw UsageError(fmt::format("--format: unknown format '{}'{}", format,
                                 did_you_mean_or_list(format, known)));
  }
  return formats;
}

struct Written {
  const analysis::Verdict& verdict;
  std::vector<fs::path> files;
};

json::Format<Written> written_format() {
  return json::document<Written>(
      {{[](const Written& written) { return written.verdict; }, reports::verdict_format()},
       {"files", &Written::files}});
}

void print_answer(const analysis::Verdict& verdict, const reports::ReportFiles& files) {
  print_verdict(verdict);
  for (const fs::path& page : files.pages) fmt::print("{} written\n", page.string());
  if (files.figures.empty()) return;
  fmt::print("{} figures written to {}\n", files.figures.size(),
             files.figures.front().parent_path().string());
}

/// Writes the report and the requested converted figures.
reports::ReportFiles write_files(const analysis::Analysis& analysis, const fs::path& directory,
                                 const std::vector<std::string>& formats) {
  reports::ReportFiles files = reports::write_report(analysis, directory, formats);
  const std::vector<fs::path> drawings = files.figures;
  for (const std::string& kind : figure_kinds()) {
    if (!contains(formats, kind)) continue;
    for (auto& file : converted_figures(drawings, kind)) files.figures.push_back(std::move(file));
  }
  return files;
}

/// Opens the page if requested. The suggested next step is `next`, or to open the page.
void show_page(const Options& options, const fs::path& page, const std::string& next) {
  if (options.has("open")) {
    if (open_on_desktop(page)) return;
    print_message("There is no desktop to open it on.\n");
  }
  say_next(next.empty() ? fmt::format("open {}", page.string()) : next);
}

/// The next command, if runs are missing or the optimum is unconfirmed; otherwise, and where the
/// user makes the runs and will look first, empty.
std::string next_runs(const study::Study& study, const analysis::Verdict& verdict) {
  const bool wanted = verdict.status == analysis::Status::kUnconfirmed ||
                      verdict.status == analysis::Status::kPartial;
  return wanted && study.has_program() ? verdict.next_command : "";
}

}  // namespace

json::Schema report_schema() { return written_format().schema; }

void describe_report(Options& options) {
  options.add()("format", boost::program_options::value<std::string>()->value_name("LIST"),
                "one or more of html (default), md, json, and pdf and png for the figures")(
      "output,o", boost::program_options::value<std::string>()->value_name("DIR"),
      "where to write it (default: report/ in the study directory, with fit.json and optimum.json "
      "in the study directory)")("open", "open the page in a browser, if there is a desktop");
  options.choices("format", {known_formats(), true});
  add_fit_options(options);
  add_goal_options(options);
  add_directory(options);
}

int command_report(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> formats = formats_of(options);
  const study::StudyDirectory directory = open_study(options);
  const analysis::Analysis analysis =
      analysis::analyse(directory, analysis_options(options, directory.study));
  say_warnings(analysis.warnings);
  if (!asks_otherwise(options) && !options.has("output")) reports::write_answers(analysis);
  const fs::path output = options.text("output", directory.report().string());
  const reports::ReportFiles files = write_files(analysis, output, formats);
  const analysis::Verdict verdict = analysis::verdict(analysis);
  options.json() ? fmt::print("{}", written_format().text({verdict, files.all()}))
                 : print_answer(verdict, files);
  show_page(options, files.pages.empty() ? output / "figures" : files.pages.front(),
            asks_otherwise(options) ? "" : next_runs(directory.study, verdict));
  if (analysis.completed() == 0) return kRunsMissing;
  return verdict.status == analysis::Status::kInfeasible ? kNoSettingsMeetGoals : kDone;
}

}  // namespace doetune::cli
