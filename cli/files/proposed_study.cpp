#include "cli/files/proposed_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "study/argument_template.h"
#include "study/error.h"
#include "study/file/yaml.h"
#include "study/study.h"

namespace doetune::cli {
namespace {

using study::ColumnRole;
using study::RunTable;

constexpr std::size_t kFewLevels = 6;

/// A column by the name that a study may give it.
struct Column {
  std::string name;
  std::string theirs;  ///< as in the table
  ColumnRole role;
  std::set<std::string> texts;
  std::vector<double> numbers;  ///< ascending, each once; empty if any value is no number
};

bool is_name(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

Column column_of(const RunTable& table, std::size_t index) {
  const study::RunColumn& theirs = table.columns[index];
  Column column{study::last_part(theirs.plain_name), theirs.name, theirs.role, {}, {}};
  std::set<double> numbers;
  bool numeric = true;
  std::size_t values = 0;
  for (const study::RunRow& row : table.rows) {
    const std::string& text = table.cell(row, index);
    if (text.empty()) continue;
    ++values;
    column.texts.insert(text);
    const auto number = study::parse_number(text);
    numeric = numeric && number.has_value();
    if (number) numbers.insert(*number);
  }
  if (numeric) column.numbers.assign(numbers.begin(), numbers.end());
  if (column.role == ColumnRole::kUnknown && !table.reported) {
    const bool repeats = 2 * column.texts.size() <= values;
    column.role = repeats ? ColumnRole::kParameter : ColumnRole::kMetric;
  }
  return column;
}

/// The columns that vary and can be named, without those of one name.
std::vector<Column> usable_columns(const RunTable& table) {
  std::vector<Column> all;
  std::map<std::string, int> count;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    all.push_back(column_of(table, i));
    ++count[all.back().name];
  }
  std::erase_if(all, [&](const Column& column) {
    return column.texts.size() < 2 || !is_name(column.name) || count[column.name] > 1 ||
           study::is_reserved_name(column.name) || column.role == ColumnRole::kUnknown;
  });
  return all;
}

/// Whether there are three or more, each at least twice the one before.
bool doubles(const std::vector<double>& numbers) {
  return numbers.size() > 2 &&
         std::adjacent_find(numbers.begin(), numbers.end(),
                            [](double a, double b) { return b < 2 * a; }) == numbers.end();
}

std::string factor_text(const Column& column) {
  if (column.numbers.empty()) {
    std::vector<std::string> levels;
    for (const std::string& text : column.texts) levels.push_back("\"" + text + "\"");
    return fmt::format("{{levels: [{}]}}", fmt::join(levels, ", "));
  }
  const double low = column.numbers.front(), high = column.numbers.back();
  const bool whole = std::all_of(column.numbers.begin(), column.numbers.end(),
                                 [](double x) { return x == std::round(x); });
  const std::string scale =
      low > 0 && (high >= 8 * low || doubles(column.numbers)) ? ", scale: log2" : "";
  if (column.numbers.size() <= kFewLevels)
    return fmt::format("{{levels: [{}]{}}}", fmt::join(column.numbers, ", "), scale);
  return fmt::format("{{low: {}, high: {}{}{}}}", low, high, whole ? ", type: integer" : "", scale);
}

/// Words in a name that say that more of it, or less, is better; those that say it best come first.
using Keywords = std::span<const std::string_view>;
constexpr std::array<std::string_view, 6> kMore{"goodput",  "throughput", "accuracy",
                                                "tokens_s", "per_s",      "score"};
constexpr std::array<std::string_view, 9> kLess{"ttft", "latency", "e2el", "tpot",    "itl",
                                                "loss", "error",   "time", "duration"};

/// The rank of a name among words, of which a tail percentile comes first; empty if it has none.
std::optional<std::size_t> rank_of(const std::string& name, Keywords words) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  const auto word = std::find_if(words.begin(), words.end(), has);
  if (word == words.end()) return std::nullopt;
  return 2 * static_cast<std::size_t>(word - words.begin()) + (has("p9") ? 0 : 1);
}

/// The metric whose name tells most that it is a goal; null if none does.
const Column* goal_among(const std::vector<Column>& columns, Keywords words, Keywords others = {}) {
  const Column* best = nullptr;
  for (const Column& column : columns) {
    if (column.role == ColumnRole::kParameter || column.numbers.empty() ||
        rank_of(column.name, others)) {
      continue;
    }
    const auto rank = rank_of(column.name, words);
    if (rank && (!best || *rank < *rank_of(best->name, words))) best = &column;
  }
  return best;
}

}  // namespace

std::string propose_study(const RunTable& table, const std::string& name,
                          const std::vector<std::string>& files) {
  std::string factors, responses, others, command = "doetune import " + name + ".yaml";
  for (const std::string& file : files) command += " " + study::shell_quoted(file);
  const std::vector<Column> columns = usable_columns(table);
  const Column* const maximized = goal_among(columns, kMore);
  const Column* const minimized = goal_among(columns, kLess, kMore);
  for (const Column& column : columns) {
    if (!table.reported && column.name != column.theirs)
      command += " --column " + study::shell_quoted(column.name + "=" + column.theirs);
    if (column.role == ColumnRole::kParameter) {
      factors += fmt::format("  {}: {}\n", column.name, factor_text(column));
    } else if (!column.numbers.empty()) {
      if (&column == maximized || &column == minimized)
        responses += fmt::format("  {}: {{goal: {}}}\n", column.name,
                                 &column == maximized ? "maximize" : "minimize");
      else
        others += fmt::format("  # {}: {{}}\n", column.name);
    }
  }
  if (factors.empty()) {
    throw study::StudyError(
        fmt::format("{}: no parameter varies, so there is no factor; a study needs runs at two or "
                    "more settings",
                    table.place));
  }
  if (responses.empty() && others.empty())
    throw study::StudyError(fmt::format("{}: nothing is measured", table.place));
  if (responses.empty()) {  // the first of the others, without its mark of a comment
    const std::size_t end = others.find('\n') + 1;
    responses = "  " + others.substr(4, end - 4);
    others.erase(0, end);
  }
  return fmt::format(
      "# Proposed from results: check the factors, and give the responses their units and goals.\n"
      "#   {1}\n"
      "study: {0}\n\nfactors:\n{2}\nresponses:\n{3}{4}",
      name, command, factors, responses, others);
}

}  // namespace doetune::cli
