#include "cli/runs/failed_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/search_story.h"
#include "base/bounded_file.h"
#include "cli/terminal/terminal.h"
#include "runner/processes/output_text.h"
#include "study/argument_template.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kMaxKinds = 6;
constexpr std::size_t kTailBytes = 4096;

/// "fccd/runs/0014.1/stderr: ImportError"; from standard output if standard error is empty. Omits
/// the line if the reason already contains it. Empty for a run without output.
std::string output_text(const std::filesystem::path& attempt, const std::string& reason) {
  for (const char* name : {"stderr", "stdout"}) {
    const std::string tail = read_tail(attempt / name, kTailBytes);
    const std::string words = runner::printable(runner::last_line(tail));
    if (words.empty()) continue;
    const bool named = reason.find(words) != std::string::npos;
    return (attempt / name).string() + (named ? "" : ": " + words);
  }
  return "";
}

std::string kind_text(const study::StudyDirectory& directory, const analysis::RunsAlike& alike,
                      const study::RunRecord& last) {
  std::string text = fmt::format(
      "  {}\n", wrapped(analysis::runs_text(alike.runs) + " " + alike.what, 4, kColumns));
  const std::string output = output_text(directory.attempt(last.run, last.attempt), alike.what);
  return output.empty() ? text : text + fmt::format("    {}\n", wrapped(output, 6, kColumns));
}

}  // namespace

std::string failures_text(const study::StudyDirectory& directory,
                          const analysis::Records& records) {
  const std::vector<analysis::RunsAlike> kinds = analysis::runs_by_end(records);
  std::string text;
  for (std::size_t i = 0; i < std::min(kinds.size(), kMaxKinds); ++i) {
    text += kind_text(directory, kinds[i], records.at(kinds[i].runs.back()));
  }
  if (kinds.size() <= kMaxKinds) return text;
  return text + fmt::format("  {} of other kinds; see `doetune report`\n",
                            analysis::count_of(static_cast<int>(kinds.size() - kMaxKinds), "end"));
}

std::string command_after_runs(const study::StudyDirectory& directory,
                               const runner::RunCounts& counts, int missing) {
  const auto search = analysis::recorded_search(directory);
  const bool is_under_way = missing > 0 || (search && search->end.empty());
  const bool in_vain = counts.completed == 0 && counts.unsuccessful() + counts.infeasible > 0;
  const char* name = "report";
  if (!directory.study.has_program()) {
    if (is_under_way) name = "next";
  } else if (in_vain) {
    name = "check";
  } else if (is_under_way) {
    name = search ? "tune" : "run";
  }
  return fmt::format("doetune {} {}", name, study::shell_quoted(directory.path.string()));
}

}  // namespace doetune::cli
