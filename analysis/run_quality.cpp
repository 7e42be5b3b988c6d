#include "analysis/run_quality.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "analysis/conditions.h"
#include "analysis/format.h"
#include "study/argument_template.h"

namespace doetune::analysis {
namespace {

constexpr std::string_view kNoneFound = "none_found";
constexpr std::size_t kMany = 4;  // a flag of at least one run in four counts as common to all

constexpr std::array kWords{
    std::pair{"memory", "lack of memory"},
    std::pair{"thermal_limited", "heat"},
    std::pair{"power_limited", "the GPU's power limit"},
    std::pair{"gpu_memory_bandwidth", "GPU memory bandwidth"},
    std::pair{"gpu_compute", "GPU compute"},
    std::pair{"decode", "decoding"},
    std::pair{"host_cpu", "the host CPU"},
    std::pair{"io", "storage"},
    std::pair{"launch_bound", "single-threaded launches"},
    std::pair{"none_found", "nothing found"},
};

bool is_completed(const study::RunRecord& record) {
  return record.status == study::RunStatus::kCompleted;
}

std::size_t completed_of(const Records& records) {
  return static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(),
                    [](const auto& entry) { return is_completed(entry.second); }));
}

/// A flag with its numbers replaced by '#'.
std::string kind_of(const std::string& flag) {
  std::string kind;
  for (const char c : flag) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (!digit) kind += c;
    if (digit && !kind.ends_with('#')) kind += '#';
  }
  return kind;
}

/// Adds a run to the group `key`; `what` describes a new group.
void add_run(std::vector<RunsAlike>& groups, std::map<std::string, std::size_t>& positions,
             const std::string& key, const std::string& what, int run) {
  const auto [position, is_new] = positions.emplace(key, groups.size());
  if (is_new) groups.push_back({what, {}});
  std::vector<int>& runs = groups[position->second].runs;
  if (runs.empty() || runs.back() != run) runs.push_back(run);
}

/// Splits a text into words and numbers, alternating, words first.
std::vector<std::string> words_and_numbers(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (digit != (parts.size() % 2 == 0)) parts.emplace_back();
    parts.back() += c;
  }
  return parts;
}

/// Merges texts that differ only in numbers: "others used 49 to 93 % of the cores".
std::string summarised(const std::vector<std::string>& texts) {
  std::vector<std::string> low = words_and_numbers(texts.front()), high = low;
  const auto value = [](const std::string& number) { return std::strtod(number.c_str(), nullptr); };
  for (const std::string& text : texts) {
    const std::vector<std::string> parts = words_and_numbers(text);
    for (std::size_t i = 1; i < parts.size(); i += 2) {
      if (value(parts[i]) < value(low[i])) low[i] = parts[i];
      if (value(parts[i]) > value(high[i])) high[i] = parts[i];
    }
  }
  std::string summary;
  for (std::size_t i = 0; i < low.size(); ++i) {
    summary += low[i] == high[i] ? low[i] : low[i] + " to " + high[i];
  }
  return summary;
}

void sort_by_count(std::vector<RunsAlike>& groups) {
  std::stable_sort(groups.begin(), groups.end(), [](const RunsAlike& a, const RunsAlike& b) {
    return a.runs.size() > b.runs.size();
  });
}

}  // namespace

std::vector<double> measured_values(const Records& records, const std::vector<int>& runs,
                                    const std::string& response) {
  std::vector<double> values;
  for (const int run : runs) {
    const auto record = records.find(run);
    if (record == records.end() || !is_completed(record->second)) continue;
    const auto value = record->second.responses.find(response);
    if (value != record->second.responses.end()) values.push_back(value->second);
  }
  return values;
}

std::string bottleneck_words(std::string_view bottleneck) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& words) { return words.first == bottleneck; });
  return found == kWords.end() ? std::string(bottleneck) : found->second;
}

std::vector<RunsAlike> runs_by_bottleneck(const Records& records) {
  std::vector<RunsAlike> groups;
  std::map<std::string, std::size_t> positions;
  for (const auto& [run, record] : records) {
    if (!is_completed(record) || record.bottleneck.empty()) continue;
    add_run(groups, positions, record.bottleneck, record.bottleneck, run);
  }
  sort_by_count(groups);
  return groups;
}

std::string bottleneck_sentence(const Records& records) {
  std::string sentence, unlimited;
  for (const RunsAlike& group : runs_by_bottleneck(records)) {
    if (group.what == kNoneFound) {
      unlimited = fmt::format("in {} nothing measured was near its limit",
                              count_of(static_cast<int>(group.runs.size()), "run"));
    } else if (sentence.empty()) {
      sentence = fmt::format("{} of {} limited by {}", group.runs.size(),
                             count_of(static_cast<int>(completed_of(records)), "run"),
                             bottleneck_words(group.what));
    } else {
      sentence += fmt::format(", {} by {}", group.runs.size(), bottleneck_words(group.what));
    }
  }
  if (sentence.empty() && !unlimited.empty()) return capitalised(unlimited);
  return sentence + (unlimited.empty() ? "" : "; " + unlimited);
}

std::vector<RunsAlike> runs_by_flag(const Records& records) {
  std::vector<RunsAlike> groups;
  std::map<std::string, std::size_t> positions;
  std::map<std::string, std::vector<std::string>> texts;
  for (const auto& [run, record] : records) {
    if (!is_completed(record)) continue;
    for (const std::string& flag : record.flags) {
      add_run(groups, positions, kind_of(flag), flag, run);
      texts[kind_of(flag)].push_back(flag);
    }
  }
  for (const auto& [kind, position] : positions) groups[position].what = summarised(texts.at(kind));
  return groups;
}

std::vector<RunsAlike> runs_by_end(const Records& records) {
  std::vector<RunsAlike> groups;
  std::map<std::string, std::size_t> positions;
  for (const auto& [run, record] : records) {
    if (is_completed(record)) continue;
    const std::string end = fmt::format("{}: {}", run_status_name(record.status), record.reason);
    add_run(groups, positions, kind_of(end), end, run);
    groups[positions.at(kind_of(end))].what = end;
  }
  sort_by_count(groups);
  return groups;
}

std::vector<int> flagged_runs(const Records& records) {
  std::vector<int> runs;
  for (const auto& [run, record] : records) {
    if (is_completed(record) && !record.flags.empty()) runs.push_back(run);
  }
  return runs;
}

bool is_of_many(const RunsAlike& flag, const Records& records) {
  return kMany * flag.runs.size() > completed_of(records);
}

std::vector<std::string> outlier_remarks(const Analysis& analysis, int run) {
  std::vector<std::string> remarks;
  for (const ResponseAnalysis& response : analysis.responses) {
    const auto found = std::find(response.runs.begin(), response.runs.end(), run);
    if (!response.fit || found == response.runs.end()) continue;
    const auto row = static_cast<std::size_t>(found - response.runs.begin());
    if (row >= response.diagnostics.runs.size()) continue;
    const surfaces::RunInfluence& influence = response.diagnostics.runs[row];
    if (!influence.outlier) continue;
    remarks.push_back(fmt::format("{}: outlier, residual {} standard deviations",
                                  response.response.name, number_to(*influence.studentised, 0.1)));
  }
  return remarks;
}

std::vector<OutlyingRun> outlying_runs(const Analysis& analysis) {
  std::set<int> flagged;
  for (const RunsAlike& flag : runs_by_flag(analysis.records)) {
    if (is_of_many(flag, analysis.records)) continue;
    flagged.insert(flag.runs.begin(), flag.runs.end());
  }
  std::vector<OutlyingRun> outlying;
  for (const auto& [run, record] : analysis.records) {
    if (!is_completed(record)) continue;
    OutlyingRun found{run, false, outlier_remarks(analysis, run)};
    found.is_outlier = !found.reasons.empty();
    if (!found.is_outlier && flagged.count(run) == 0) continue;
    found.reasons.insert(found.reasons.end(), record.flags.begin(), record.flags.end());
    outlying.push_back(std::move(found));
  }
  std::stable_partition(outlying.begin(), outlying.end(),
                        [](const OutlyingRun& run) { return run.is_outlier; });
  return outlying;
}

std::vector<Finding> run_findings(const Analysis& analysis) {
  std::vector<Finding> found;
  for (const RunsAlike& flag : runs_by_flag(analysis.records)) {
    const bool many = is_of_many(flag, analysis.records);
    found.push_back(
        {Finding::Weight::kCare,
         fmt::format("{} {} flagged: {}", capitalised(runs_text(flag.runs)),
                     flag.runs.size() == 1 ? "is" : "are", flag.what),
         many ? "many runs have the same cause, and measuring again would not help: remove the "
                "cause first"
              : fmt::format("`doetune run {} --rerun {}` measures {} again; both values are used",
                            study::shell_quoted(analysis.directory->path.string()),
                            run_list(flag.runs), flag.runs.size() == 1 ? "it" : "them")});
  }
  const std::vector<std::string> differences =
      condition_differences(run_conditions(analysis.directory->path, analysis.records));
  if (!differences.empty()) {
    found.push_back(
        {Finding::Weight::kCare,
         fmt::format("Runs were made under different conditions: {}", fmt::join(differences, "; ")),
         "if conditions differ by day, host or GPU, `fit: {block: day}` (or host, or gpu) in the "
         "study file removes these differences from the effects"});
  }
  return found;
}

}  // namespace doetune::analysis
