#include "study/tables/run_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest_name.h"
#include "base/text.h"
#include "study/error.h"
#include "study/files.h"
#include "study/tables/csv.h"

namespace doetune::study {
namespace {

constexpr std::size_t kMaxColumns = 20000;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Without the parentheses that end the text, and blanks before them.
std::string_view without_unit(std::string_view name) {
  if (!name.ends_with(')')) return name;
  const std::size_t open = name.rfind('(');
  if (open == std::string_view::npos || open == 0) return name;
  const std::size_t end = name.find_last_not_of(' ', open - 1);
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

}  // namespace

std::string plain_name_of(const std::string& name) {
  std::string plain;
  for (const char c : without_unit(name)) {
    if (is_letter_or_digit(c)) {
      plain += lower(c);
    } else if (c == '.') {
      plain += c;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  while (plain.ends_with('_')) plain.pop_back();
  return plain;
}

std::string last_part(const std::string& plain_name) {
  return plain_name.substr(plain_name.rfind('.') + 1);  // npos + 1 is 0: the whole name
}

RunColumn& RunTable::column(const std::string& name, ColumnRole role,
                            const std::string& plain_name) {
  const auto [entry, is_new] = index_.emplace(name, columns.size());
  if (is_new) {
    if (columns.size() == kMaxColumns) {
      throw StudyError(
          fmt::format("{}: more than {} columns are not read as runs", place, kMaxColumns));
    }
    columns.push_back({name, role, plain_name.empty() ? plain_name_of(name) : plain_name});
  }
  return columns[entry->second];
}

void RunTable::set(RunRow& row, const std::string& name, ColumnRole role, const std::string& text,
                   const std::string& plain_name) {
  if (name.empty() || !is_plain_text(name) || !is_plain_text(text)) return;
  column(name, role, plain_name);
  if (text.empty()) return;
  const std::size_t at = index_.at(name);
  if (row.cells.size() <= at) row.cells.resize(at + 1);
  row.cells[at] = text;
}

const std::string& RunTable::cell(const RunRow& row, std::size_t column) const {
  static const std::string missing;
  return column < row.cells.size() ? row.cells[column] : missing;
}

std::vector<std::string> RunTable::names() const {
  std::vector<std::string> all;
  for (const RunColumn& column : columns) all.push_back(column.name);
  if (!reported) return all;
  for (const RunColumn& column : columns) {
    for (const std::string& name : {column.plain_name, last_part(column.plain_name)}) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

void RunTable::assign(const std::string& ours, const std::string& theirs) {
  const auto found = find(theirs, ColumnRole::kUnknown);
  if (!found) {
    throw StudyError(fmt::format("{}: there is no column '{:.60}'{}", place, theirs,
                                 did_you_mean_or_list(theirs, names())));
  }
  assigned_[ours] = *found;
}

std::optional<std::size_t> RunTable::find(const std::string& ours, ColumnRole role) const {
  if (const auto chosen = assigned_.find(ours); chosen != assigned_.end()) return chosen->second;
  const auto matching = [&](const auto& name_of) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (name_of(columns[i])) found.push_back(i);
    }
    return only_of(ours, std::move(found), role);
  };
  auto found = matching([&](const RunColumn& column) { return column.name == ours; });
  if (found || !reported) return found;
  const std::string plain = plain_name_of(ours);
  found = matching([&](const RunColumn& column) { return column.plain_name == plain; });
  if (found) return found;
  return matching([&](const RunColumn& column) { return last_part(column.plain_name) == plain; });
}

std::optional<std::size_t> RunTable::only_of(const std::string& ours,
                                             std::vector<std::size_t> found,
                                             ColumnRole role) const {
  if (found.size() > 1 && std::any_of(found.begin(), found.end(),
                                      [&](std::size_t i) { return columns[i].role == role; })) {
    std::erase_if(found, [&](std::size_t i) { return columns[i].role != role; });
  }
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found.front();
  if (!reported) throw StudyError(fmt::format("{}: two columns are named '{}'", place, ours));
  throw StudyError(fmt::format("{}: '{}' may be '{}' or '{}'; say which: --column {}='{}'", place,
                               ours, columns[found[0]].name, columns[found[1]].name, ours,
                               columns[found[0]].name));
}

std::optional<std::size_t> RunTable::find_exactly(const std::string& ours) const {
  if (reported && !assigned_.contains(ours)) return std::nullopt;
  return find(ours, ColumnRole::kUnknown);
}

RunTable read_csv_runs(const std::filesystem::path& file) {
  RunTable table;
  std::vector<CsvRow> rows;
  try {
    rows = parse_csv_table(read_file(file));
  } catch (const CsvError& error) {
    throw StudyError(fmt::format("{}:{}: {}", file.string(), error.line, error.what()));
  } catch (const DirectoryError& error) {
    throw StudyError(error.what());
  }
  table.place = fmt::format("{}:{}", file.string(), rows[0].line);
  for (const std::string& cell : rows[0].cells) {
    const std::string name = trimmed_cell(cell);
    table.columns.push_back({name, ColumnRole::kUnknown, plain_name_of(name)});
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    RunRow& row = table.rows.emplace_back();
    row.line = rows[i].line;
    row.place = fmt::format("{}:{}", file.string(), row.line);
    for (const std::string& cell : rows[i].cells) {
      row.cells.push_back(trimmed_cell(cell));
    }
  }
  return table;
}

}  // namespace doetune::study
