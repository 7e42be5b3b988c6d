// The journal of a study: an append-only log of all finished attempts, written by one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/directory/kept_sheet.h"
#include "study/run_record.h"

namespace doetune::study {

/// The content of a journal.
struct JournalContent {
  std::vector<RunRecord> records;   ///< in the order in which they were written
  std::vector<RunRecord> left_out;  ///< about another run sheet; filled only when read for a study
  std::vector<std::string> warnings;    ///< for each damaged line, and for left_out
  std::optional<std::string> plan;      ///< hash of the plan; empty if the header is damaged
  std::optional<KeptSheet> sheet = {};  ///< the latest; empty in a journal of an older version
};

/// runs.jsonl: one JSON object per line. The first is
/// {"doetune_journal":1,"study":...,"plan":hash}; {"sheet":hash,...} is the run sheet to which the
/// records after it belong, from which the files of the study can be restored; the others are
/// records. The last field of every line is "crc", the CRC-32 of the text before it, as 8
/// hexadecimal digits.
///
/// A last line without its line end or checksum is the trace of a crash during an append: reading
/// skips it, opening for append truncates it. Any other damaged line is skipped with a warning, the
/// header included, if records follow it.
class Journal {
 public:
  /// Opens for append; creates the file with its header if it does not exist. `plan_hash` must
  /// equal that of the header. Throws DirectoryError for a journal of another plan or of a newer
  /// version, and for one that cannot be written.
  Journal(const std::filesystem::path& file, const std::string& study,
          const std::string& plan_hash);

  /// Opens the journal of a study: appends its run sheet if that is new, and restricts `content` to
  /// the records that belong to it. Throws DirectoryError if the run sheet is older than the
  /// journal.
  explicit Journal(const StudyDirectory& directory);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  const JournalContent& content() const { return content_; }

  /// Returns when the record is durable (fdatasync): the run is acknowledged. Throws DirectoryError
  /// and leaves the file unchanged if it cannot be written or was moved or deleted.
  void append(const RunRecord& record);

 private:
  void keep(KeptSheet sheet);
  void append_line(const std::string& line);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  ///< end of the last valid line
  JournalContent content_;
};

/// Reads a journal without changing it; a missing file has no records. Throws DirectoryError for a
/// file that cannot be read, is not a journal or is of a newer version.
JournalContent read_journal(const std::filesystem::path& file);

/// Reads the records that belong to the study's run sheet, with a warning for any others. Also
/// throws DirectoryError for a journal of another plan.
JournalContent read_journal(const StudyDirectory& directory);

/// Writes a new journal with all records of a study at once; durable when it returns. Throws
/// DirectoryError.
void write_journal(const StudyDirectory& directory, const std::vector<RunRecord>& records);

}  // namespace doetune::study
