// The journal: every finished attempt, append-only, one writer, the single source of truth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/kept_sheet.h"
#include "study/run_record.h"

namespace doetune::study {

/// What reading a journal found.
struct JournalContent {
  std::vector<RunRecord> records;       ///< in the order written
  std::vector<RunRecord> left_out;      ///< not about the run sheet; empty where none was asked for
  std::vector<std::string> warnings;    ///< for each damaged line, and what else was left out
  std::optional<std::string> plan;      ///< hash of the plan; empty: the header is damaged
  std::optional<KeptSheet> sheet = {};  ///< the last; empty in a journal of an older version
};

/// runs.jsonl: one JSON object a line; the first is {"doetune_journal":1,"study":...,"plan":hash},
/// every line's last field is "crc", the CRC-32 of the text before it, as 8 hexadecimal digits.
/// {"sheet":hash,...} is the run sheet that the records after it are about: the files of the study
/// can be written from it again. The others are records.
///
/// A last line without its end or checksum is the trace of a crash during append: reading leaves it
/// out, opening for append cuts it off. A damaged line elsewhere is left out with a warning; so is
/// a damaged first line where records follow, for no record is lost for the sake of the header.
class Journal {
 public:
  /// Opens for append, making the file with its header if there is none. `plan_hash` must equal
  /// that of the header. Throws DirectoryError: a journal of another plan, of a newer version, or
  /// one that cannot be written.
  Journal(const std::filesystem::path& file, const std::string& study,
          const std::string& plan_hash);

  /// The same for a study: its sheet is kept where it is new, and `content` has the records that
  /// are about it. Throws DirectoryError for a sheet that is older than the journal.
  explicit Journal(const StudyDirectory& directory);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const JournalContent& content() const { return content_; }

  /// Returns when the record is on the disk (fdatasync): the run is acknowledged. Throws
  /// DirectoryError; the file is then as before. A file that was moved or deleted takes no more.
  void append(const RunRecord& record);

 private:
  void keep(KeptSheet sheet);
  void append_line(const std::string& line);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  ///< end of the last good line
  JournalContent content_;
};

/// Reads a journal without touching it; a file that is not there has no records. Throws
/// DirectoryError for a file that cannot be read, is no journal or is of a newer version.
JournalContent read_journal(const std::filesystem::path& file);

/// The same of a study: the records that are about its run sheet; of others a warning tells.
/// Throws DirectoryError for a journal of another plan, too.
JournalContent read_journal(const StudyDirectory& directory);

/// Makes the journal of a study that has none, with all its records at once; on the disk when it
/// returns. Throws DirectoryError.
void write_journal(const StudyDirectory& directory, const std::vector<RunRecord>& records);

}  // namespace doetune::study
