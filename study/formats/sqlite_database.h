// Reads an SQLite database that somebody else made.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace doetune::study {

/// The rows of a query, one after another.
class SqliteRows {
 public:
  SqliteRows(sqlite3* database, const std::string& file, const char* sql);

  void bind(std::int64_t value);

  /// Goes to the next row; false after the last. Throws StudyError for a damaged database.
  bool next();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;

 private:
  sqlite3* database_;
  std::string file_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_;
};

/// Open read-only, with limits on the work of a query and on the length of a value, since the
/// schema of an untrusted file may compute what its tables seem to hold. Throws StudyError.
class SqliteDatabase {
 public:
  explicit SqliteDatabase(const std::filesystem::path& file);

  bool has_table(const char* name);

  SqliteRows query(const char* sql) { return {database_.get(), file_, sql}; }
  SqliteRows query(const char* sql, std::int64_t parameter);

 private:
  std::string file_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace doetune::study
