#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "study/directory/directory.h"
#include "study/directory/journal.h"
#include "tests/temporary_directory.h"

using namespace doetune::study;
using doetune::tests::TemporaryDirectory;

namespace {

RunRecord record_of(int run, int attempt = 1) {
  RunRecord record;
  record.run = run;
  record.attempt = attempt;
  record.status = RunStatus::kCompleted;
  record.exit_code = 0;
  record.host = "node1";
  record.start = "2026-11-21T07:38:18.123Z";
  record.duration_s = 0.1 * run;
  record.responses = {{"throughput", 100.0 / 3 + run}, {"processing_time", 1e-3}};
  return record;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

/// The text of a journal with a header and `runs` records.
std::string journal_text(const std::filesystem::path& file, int runs) {
  std::filesystem::remove(file);
  {
    Journal journal(file, "demo", "abc");
    for (int run = 1; run <= runs; ++run) journal.append(record_of(run));
  }
  return read_file(file);
}

}  // namespace

TEST_CASE("A record reads back as it was written", "[study][journal]") {
  const TemporaryDirectory directory;
  RunRecord record = record_of(7, 2);
  record.status = RunStatus::kInfeasible;
  record.reason = "out of memory: \"quoted\", \n and ünïcode";
  record.gpu = "0,1";
  record.settings = {{"batch_size", "8"}, {"mode", "fast"}};
  record.notes = {{"engine", "onednn"}};
  record.bounds["throughput"].high = 21.5;
  Journal(directory / "runs.jsonl", "demo", "abc").append(record);

  const auto content = read_journal(directory / "runs.jsonl");
  REQUIRE(content.records.size() == 1);
  const RunRecord& read = content.records[0];
  CHECK(content.warnings.empty());
  CHECK(read.run == 7);
  CHECK(read.attempt == 2);
  CHECK(read.status == RunStatus::kInfeasible);
  CHECK(read.reason == record.reason);
  CHECK(read.exit_code == 0);
  CHECK(read.gpu == "0,1");
  CHECK(read.settings == record.settings);
  CHECK(read.host == "node1");
  CHECK(read.start == record.start);
  CHECK(read.duration_s == record.duration_s);  // the shortest text that parses exactly
  CHECK(read.responses == record.responses);
  CHECK(read.notes == record.notes);
  CHECK(read.bounds.at("throughput").low == -INFINITY);
  CHECK(read.bounds.at("throughput").high == 21.5);
}

TEST_CASE("Bytes that are no UTF-8 do not keep a record from the journal", "[study][journal]") {
  const TemporaryDirectory directory;
  RunRecord record = record_of(1);
  record.reason = "\xff\xfe";
  Journal(directory / "runs.jsonl", "demo", "abc").append(record);
  CHECK(read_journal(directory / "runs.jsonl").records.size() == 1);
}

TEST_CASE("A journal cut at any byte keeps every whole record and takes new ones",
          "[study][journal]") {
  // As in ninja's build_log_test, "Truncate": loads at every length.
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  const std::string whole = journal_text(file, 3);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    CAPTURE(length);
    const std::string cut = whole.substr(0, length);
    write(file, cut);
    const auto lines = static_cast<std::size_t>(std::count(cut.begin(), cut.end(), '\n'));
    const std::size_t records = lines == 0 ? 0 : lines - 1;
    REQUIRE(read_journal(file).records.size() == records);
    REQUIRE(read_file(file) == cut);  // reading does not change it
    {
      Journal journal(file, "demo", "abc");
      REQUIRE(journal.content().records.size() == records);
      REQUIRE(journal.content().warnings.empty());
      journal.append(record_of(9));
    }
    const auto content = read_journal(file);
    REQUIRE(content.warnings.empty());
    REQUIRE(content.records.size() == records + 1);
    REQUIRE(content.records.back().run == 9);
  }
}

TEST_CASE("A flipped bit loses at most the record it is in", "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  const std::string whole = journal_text(file, 3);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE(at, bit);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      write(file, damaged);
      const int line =
          static_cast<int>(std::count(whole.begin(), whole.begin() + static_cast<long>(at), '\n'));
      Journal journal(file, "demo", "abc");
      const auto records = final_records(journal.content().records);
      for (int run = 1; run <= 3; ++run) {
        if (run != line) REQUIRE(records.count(run) == 1);
      }
      for (const auto& [run, record] : records) {
        REQUIRE(record.responses == record_of(run).responses);
      }
    }
  }
}

TEST_CASE("A journal whose first line is gone keeps its records", "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  const std::string whole = journal_text(file, 3);
  write(file, whole.substr(whole.find('\n') + 1));
  Journal journal(file, "demo", "abc");
  CHECK(final_records(journal.content().records).size() == 3);
  CHECK(journal.content().warnings.size() == 1);
}

TEST_CASE("A journal whose sealed header has no text for its plan keeps its records",
          "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  const std::string whole = journal_text(file, 3);
  // The checksum was computed with zlib's crc32 in Python.
  write(file, "{\"doetune_journal\":1,\"study\":\"demo\",\"plan\":7,\"crc\":\"6be127f5\"}\n" +
                  whole.substr(whole.find('\n') + 1));
  Journal journal(file, "demo", "abc");
  CHECK(journal.content().records.size() == 3);
  CHECK(journal.content().warnings.size() == 1);
}

TEST_CASE("A damaged line in the middle is reported by its number", "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  std::string text = journal_text(file, 3);
  text[text.find("throughput")] = 'T';
  write(file, text);
  const auto content = read_journal(file);
  REQUIRE(content.warnings.size() == 1);
  CHECK_THAT(content.warnings[0], Catch::Contains("runs.jsonl:2: damaged"));
  CHECK(content.records.size() == 2);
}

TEST_CASE("The last record of a run is its final one", "[study][journal]") {
  RunRecord failed = record_of(1);
  failed.status = RunStatus::kFailed;
  const auto records = final_records({failed, record_of(2), record_of(1, 2)});
  CHECK(records.size() == 2);
  CHECK(records.at(1).attempt == 2);
  CHECK(records.at(1).status == RunStatus::kCompleted);
}

TEST_CASE("A journal is refused where it is not this plan's", "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";

  SECTION("of a newer version") {
    write(file, "{\"doetune_journal\":2,\"crc\":\"1cb467e6\"}\n");
    CHECK_THROWS_WITH(read_journal(file), Catch::Contains("newer doetune"));
    CHECK_THROWS_WITH(Journal(file, "demo", "abc"), Catch::Contains("newer doetune"));
  }
  SECTION("of another plan") {
    journal_text(file, 1);
    CHECK_THROWS_WITH(Journal(file, "demo", "other"), Catch::Contains("do not belong to the plan"));
  }
  SECTION("no journal at all") {
    write(file, "dear diary\nall is well\n");
    CHECK_THROWS_WITH(Journal(file, "demo", "abc"), Catch::Contains("not a doetune journal"));
    CHECK(read_file(file) == "dear diary\nall is well\n");
  }
  SECTION("no journal, and without a line end") {
    write(file, "dear diary");
    CHECK_THROWS_WITH(Journal(file, "demo", "abc"), Catch::Contains("not a doetune journal"));
    CHECK(read_file(file) == "dear diary");
  }
  SECTION("a directory") {
    std::filesystem::create_directory(file);
    CHECK_THROWS_AS(Journal(file, "demo", "abc"), DirectoryError);
  }
}

TEST_CASE("A record that does not fit on the disk leaves the journal as it was",
          "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  const std::string before = journal_text(file, 2);
  Journal journal(file, "demo", "abc");

  // A file size limit acts like a full disk: the write is incomplete.
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  rlimit limit = old_limit;
  limit.rlim_cur = before.size() + 20;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK_THROWS_WITH(journal.append(record_of(3)), Catch::Contains("cannot be written"));
  CHECK_THROWS_AS(journal.append(record_of(3)), DirectoryError);
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);

  CHECK(read_file(file) == before);
  journal.append(record_of(3));
  CHECK(read_journal(file).records.size() == 3);
}

TEST_CASE("A journal that was moved away or replaced acknowledges nothing more",
          "[study][journal]") {
  const TemporaryDirectory directory;
  const auto file = directory / "runs.jsonl";
  Journal journal(file, "demo", "abc");
  journal.append(record_of(1));
  std::filesystem::rename(file, directory / "elsewhere");
  CHECK_THROWS_WITH(journal.append(record_of(2)), Catch::Contains("was moved or deleted"));
  write(file, "");
  CHECK_THROWS_WITH(journal.append(record_of(2)), Catch::Contains("was moved or deleted"));
  CHECK(read_journal(directory / "elsewhere").records.size() == 1);
}

TEST_CASE("A file that is not there has no records", "[study][journal]") {
  const TemporaryDirectory directory;
  CHECK(read_journal(directory / "runs.jsonl").records.empty());
  CHECK_THROWS_AS(Journal(directory / "missing" / "runs.jsonl", "demo", "abc"), DirectoryError);
}
