// A file of results of another tool, read but not yet understood.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "study/tables/csv.h"

namespace doetune::study {

/// Larger files are refused; SQLite databases are read row by row and may be larger.
inline constexpr std::uintmax_t kMaxResultBytes = std::uintmax_t{256} << 20;

/// A JSON value and the line where it begins.
struct JsonDocument {
  int line = 1;
  nlohmann::json value;
};

/// One of `documents`, `csv` and `is_sqlite` describes the content.
struct ResultFile {
  std::filesystem::path path;
  std::vector<JsonDocument> documents;  ///< one of a JSON or YAML file; several of JSON lines
  std::vector<CsvRow> csv;              ///< cells as written; the first row is the header
  bool is_sqlite = false;
  std::string study;                  ///< of a database with several studies: the one to read
  std::vector<std::string> warnings;  ///< lines that are damaged

  /// "FILE:LINE", or the file if the line is 0.
  std::string at(int line) const;

  /// Whether the header of a CSV file has a column.
  bool has_column(std::string_view name) const;

  /// The first document if it is an object, or the first object of the list that it is; null if
  /// there is none.
  const nlohmann::json* first_object() const;
};

/// Reads a file as what it is by its content. Numbers that JSON does not have, NaN and Infinity,
/// are null. Throws StudyError with the line: a file that is missing, too large or damaged.
ResultFile read_result_file(const std::filesystem::path& path);

}  // namespace doetune::study
