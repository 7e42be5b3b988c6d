#include "study/formats/sqlite_database.h"

#include <fmt/format.h>

#include "study/error.h"

namespace doetune::study {
namespace {

constexpr int kMaxValueBytes = 16 << 20;
constexpr int kStepsBetweenChecks = 100'000'000;  // of SQLite's virtual machine

/// Ends a query: it has made more steps than the tables of a study need.
int end_query(void*) { return 1; }

[[noreturn]] void fail_in(const std::string& file, sqlite3* database) {
  const int code = database ? sqlite3_errcode(database) : SQLITE_NOMEM;
  const bool is_damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR;
  throw StudyError(fmt::format("{}: {}{}", file,
                               database ? sqlite3_errmsg(database) : "out of memory",
                               is_damaged ? "; the file is damaged or incomplete" : ""));
}

}  // namespace

SqliteRows::SqliteRows(sqlite3* database, const std::string& file, const char* sql)
    : database_(database), file_(file), statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) {
    fail_in(file_, database_);
  }
  statement_.reset(statement);
}

void SqliteRows::bind(std::int64_t value) {
  if (sqlite3_bind_int64(statement_.get(), 1, value) != SQLITE_OK) fail_in(file_, database_);
}

bool SqliteRows::next() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) fail_in(file_, database_);
  return result == SQLITE_ROW;
}

bool SqliteRows::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t SqliteRows::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double SqliteRows::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string SqliteRows::text(int column) const {
  const auto* text = static_cast<const char*>(
      static_cast<const void*>(sqlite3_column_text(statement_.get(), column)));
  const int bytes = sqlite3_column_bytes(statement_.get(), column);
  return text ? std::string(text, static_cast<std::size_t>(bytes)) : "";
}

SqliteDatabase::SqliteDatabase(const std::filesystem::path& file)
    : file_(file.string()), database_(nullptr, sqlite3_close) {
  sqlite3* database = nullptr;
  const int result = sqlite3_open_v2(file_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  database_.reset(database);
  if (result != SQLITE_OK) fail_in(file_, database);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_progress_handler(database, kStepsBetweenChecks, end_query, nullptr);
}

bool SqliteDatabase::has_table(const char* name) {
  SqliteRows rows = query("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (rows.next()) {
    if (rows.text(0) == name) return true;
  }
  return false;
}

SqliteRows SqliteDatabase::query(const char* sql, std::int64_t parameter) {
  SqliteRows rows(database_.get(), file_, sql);
  rows.bind(parameter);
  return rows;
}

}  // namespace doetune::study
