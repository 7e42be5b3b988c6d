#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/json_format.h"
#include "base/nearest_name.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/terminal.h"
#include "reports/exports/export.h"
#include "study/argument_template.h"

namespace doetune::cli {
namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const reports::ExportFormat& format : reports::export_formats()) {
    names.emplace_back(format.name);
  }
  return names;
}

/// The format named by --to; its name has been checked.
const reports::ExportFormat& format_of(const Options& options) {
  const std::vector<std::string> names = format_names();
  if (!options.has("to")) {
    throw UsageError(
        fmt::format("doetune export: --to is missing; expected {}", fmt::join(names, ", ")));
  }
  const auto found = std::find(names.begin(), names.end(), options.text("to"));
  return reports::export_formats()[static_cast<std::size_t>(found - names.begin())];
}

std::string summary_of_formats() {
  std::string text;
  for (const reports::ExportFormat& format : reports::export_formats()) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", format.name, format.summary);
  }
  return text;
}

struct Exported {
  std::string_view format;
  std::string file;
  int runs;
};

json::Format<Exported> exported_format() {
  return json::document<Exported>(
      {{"format", &Exported::format}, {"file", &Exported::file}, {"runs", &Exported::runs}});
}

/// A plan for another tool, in a folder.
int export_plan(const Options& options, const reports::ExportFormat& format,
                const study::StudyDirectory& directory) {
  reports::TheirNames names;
  for (const std::string& word : options.list("column")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      throw UsageError(fmt::format(
          "doetune export: --column: expected OURS=THEIRS, such as concurrency=max_concurrency, "
          "found '{}'",
          word));
    }
    const std::string ours = word.substr(0, equals);
    const std::vector<std::string> known = directory.study.factor_names();
    if (std::find(known.begin(), known.end(), ours) == known.end()) {
      throw UsageError(fmt::format("doetune export: --column: the study has no factor '{}'{}", ours,
                                   did_you_mean_or_list(ours, known)));
    }
    names[ours] = word.substr(equals + 1);
  }
  const std::filesystem::path folder =
      options.text("output", (directory.path / std::string(format.file)).string());
  const auto files = format.write_plan(directory, names);
  std::filesystem::create_directories(folder);
  for (const auto& [name, content] : files) study::write_file_atomically(folder / name, content);
  const Exported exported{format.name, folder.string(),
                          static_cast<int>(directory.plan.runs.size())};
  options.json() ? fmt::print("{}", exported_format().text(exported))
                 : fmt::print("{} written: {}\n", folder.string(), format.summary);
  say_next(fmt::format("doetune import {} RESULTS, with what the tool has measured",
                       study::shell_quoted(directory.path.string())));
  return kDone;
}

/// Reports responses whose surface is not the one that the script fits.
void say_what_differs(const analysis::Analysis& analysis) {
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (!response.other || !response.fit) continue;
    print_message("{}: the script fits its polynomial, not the {} that doetune predicts with\n",
                  response.response.name, doe::word_of(response.kind));
  }
}

}  // namespace

json::Schema export_schema() { return exported_format().schema; }

void describe_export(Options& options) {
  namespace po = boost::program_options;
  options.add()("to", po::value<std::string>()->value_name("FORMAT"), summary_of_formats().c_str())(
      "output,o", po::value<std::string>()->value_name("FILE"),
      "the file, or the folder of a plan, to write (default: in the study directory); - is "
      "standard "
      "output")("column", po::value<std::vector<std::string>>()->value_name("OURS=THEIRS"),
                "for plans: THEIRS is the other tool's name for the factor OURS; repeatable");
  options.choices("to", {format_names()});
  add_fit_options(options);
  add_directory(options);
}

int command_export(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const reports::ExportFormat& format = format_of(options);
  const study::StudyDirectory directory = open_study(options);
  if (format.write_plan != nullptr) return export_plan(options, format, directory);
  const analysis::Analysis analysis =
      analysis::fit_runs(directory, analysis_options(options, directory.study));
  say_warnings(analysis.warnings);
  const std::string content = format.write(analysis);
  const std::string file =
      options.text("output", (directory.path / std::string(format.file)).string());
  if (file == "-") {
    if (options.json()) throw UsageError("doetune export: -o - or --json, not both");
    fmt::print("{}", content);
  } else {
    study::write_file_atomically(file, content);
    const Exported exported{format.name, file, analysis.completed()};
    options.json() ? fmt::print("{}", exported_format().text(exported))
                   : fmt::print("{} written: {}\n", file, format.summary);
    if (!format.program.empty()) {
      say_what_differs(analysis);
      say_next(fmt::format("{} {} (needs Debian's {})", format.program, study::shell_quoted(file),
                           format.needs));
    }
  }
  return analysis.completed() == 0 ? kRunsMissing : kDone;
}

}  // namespace doetune::cli
