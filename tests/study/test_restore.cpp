// Restoring a study from its journal, and leaving out records of another run sheet.
#include <dirent.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "study/confirmation_runs.h"
#include "study/directory/import.h"
#include "study/directory/journal.h"
#include "study/directory/restore.h"
#include "tests/temporary_directory.h"

using namespace doetune::study;
using doetune::tests::TemporaryDirectory;
namespace fs = std::filesystem;

namespace {

/// Names of the files and directories that this thread flushed to disk, in order.
thread_local std::vector<std::string> flushed;

int note_flush(int descriptor, long call) {
  std::error_code ignored;
  const fs::path link = fs::path("/proc/self/fd") / std::to_string(descriptor);
  flushed.push_back(fs::read_symlink(link, ignored).filename().string());
  return static_cast<int>(::syscall(call, descriptor));
}

}  // namespace

// The library calls these instead of libc's.
extern "C" int fsync(int descriptor) { return note_flush(descriptor, SYS_fsync); }
extern "C" int fdatasync(int descriptor) { return note_flush(descriptor, SYS_fdatasync); }

namespace {

constexpr const char* kSheetStudy = R"(seed: 3
command: [bench, "{a}", "{b}"]
factors:
  a: {low: -1, high: 1}
  b: {levels: [slow, fast]}
model: interactions
design: {type: full-factorial, levels: 2}
responses:
  y: {goal: maximize}
)";

const std::vector<std::string> kFiles{"study.yaml", "plan.csv", "plan.json"};

void put(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

StudyDirectory planned(const fs::path& path) {
  const Study study = parse_study(kSheetStudy, path.parent_path() / "s.yaml");
  return create_directory(path, study, make_plan(study), false);
}

RunRecord measured(const StudyDirectory& directory, int run) {
  const PlannedRun& planned = directory.plan.runs[static_cast<std::size_t>(run - 1)];
  RunRecord record;
  record.run = run;
  record.status = RunStatus::kCompleted;
  record.settings = settings_texts(directory.study, planned);
  record.responses = {{"y", run}};
  return record;
}

void run_all(const StudyDirectory& directory) {
  Journal journal(directory);
  const auto done = final_records(journal.content().records);
  for (const PlannedRun& run : directory.plan.runs) {
    if (!done.contains(run.run)) journal.append(measured(directory, run.run));
  }
}

void add_confirmation(StudyDirectory& directory, double a) {
  extend_directory(directory, confirmation_plan(directory.plan, directory.study, {{a, 1}, {}}, 2));
}

/// Copies the three files of a study's sheet, to be put back later.
void copy_sheet(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const std::string& name : kFiles) {
    fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing);
  }
}

/// A journal as written by doetune 0.1.0.
void write_old_journal(const StudyDirectory& directory, int runs) {
  Journal journal(directory.journal(), directory.study.name, directory.plan_hash);
  for (int run = 1; run <= runs; ++run) {
    RunRecord record;
    record.run = run;
    record.status = RunStatus::kCompleted;
    record.responses = {{"y", run}};
    journal.append(record);
  }
}

bool is_flushed_before_its_directory(const std::string& name, const std::string& directory) {
  const auto file = std::find_if(flushed.begin(), flushed.end(), [&](const std::string& entry) {
    return entry.starts_with(name + ".") && entry.ends_with(".partial");
  });
  return std::find(file, flushed.end(), directory) != flushed.end();
}

}  // namespace

TEST_CASE("A plan is on the disk before there is a run of it", "[study][directory]") {
  // POSIX, fsync: without it neither the content nor the name of a file is durable.
  const TemporaryDirectory temporary;
  flushed.clear();
  StudyDirectory directory = planned(temporary / "above" / "s");
  for (const std::string& name : kFiles) {
    CAPTURE(name);
    CHECK(is_flushed_before_its_directory(name, "s"));
  }
  const auto has = [](const std::string& name) {
    return std::find(flushed.begin(), flushed.end(), name) != flushed.end();
  };
  CHECK(has("above"));
  CHECK(has(temporary.path().filename().string()));

  run_all(directory);
  flushed.clear();
  add_confirmation(directory, 0.5);
  CHECK(is_flushed_before_its_directory("plan.csv", "s"));
  CHECK(is_flushed_before_its_directory("plan.json", "s"));
  CHECK(has("runs.jsonl"));  // contains the new sheet
}

TEST_CASE("A journal is enough to write the other files again", "[study][restore]") {
  const TemporaryDirectory temporary;
  StudyDirectory directory = planned(temporary / "s");
  run_all(directory);
  add_confirmation(directory, 0.5);
  const auto damage = GENERATE(as<std::string>(), "empty", "zeros", "missing", "text");
  const auto which = GENERATE(as<std::string>(), "study.yaml", "plan.csv", "plan.json", "all");
  CAPTURE(damage, which);
  for (const std::string& name : kFiles) {
    if (which != "all" && which != name) continue;
    const fs::path file = directory.path / name;
    if (damage == "empty") put(file, "");
    if (damage == "zeros") put(file, std::string(fs::file_size(file), '\0'));
    if (damage == "missing") fs::remove(file);
    if (damage == "text") put(file, "lorem: [ipsum");
  }
  CHECK_THROWS_WITH(open_directory(directory.path), Catch::Contains("`doetune restore "));
  CHECK_THROWS_WITH(create_directory(directory.path, directory.study, directory.plan, true),
                    Catch::Contains("`doetune restore "));

  const Restored restored = restore_directory(directory.path);
  CHECK(std::find(restored.files.begin(), restored.files.end(),
                  which == "all" ? "plan.csv" : which) != restored.files.end());
  CHECK((damage == "text") == !restored.moved.empty());
  const StudyDirectory opened = open_directory(directory.path);
  CHECK(sheet_of(opened) == sheet_of(directory));
  CHECK(final_records(read_journal(opened).records).size() == 4);
  CHECK(restore_directory(directory.path).files.empty());
}

TEST_CASE("What may be edited in study.yaml survives a restoration", "[study][restore]") {
  const TemporaryDirectory temporary;
  const StudyDirectory directory = planned(temporary / "s");
  run_all(directory);
  const std::string edited = directory.study.text + "confirm: {runs: 3}\n";
  put(directory.path / "study.yaml", edited);
  put(directory.path / "plan.json", "");
  restore_directory(directory.path);
  CHECK(open_directory(directory.path).study.text == edited);

  std::string other = edited;
  other.replace(other.find("high: 1"), 7, "high: 9");
  put(directory.path / "study.yaml", other);
  CHECK(restore_directory(directory.path).moved == std::vector<std::string>{"study.yaml.replaced"});
  CHECK(open_directory(directory.path).study.text == directory.study.text);
  CHECK(read_file(directory.path / "study.yaml.replaced") == other);
}

TEST_CASE("Runs that an older sheet does not have are reported, and their numbers not used again",
          "[study][restore]") {
  const TemporaryDirectory temporary;
  StudyDirectory directory = planned(temporary / "s");
  run_all(directory);
  copy_sheet(directory.path, temporary / "backup");
  add_confirmation(directory, 0.5);
  run_all(directory);
  copy_sheet(temporary / "backup", directory.path);

  StudyDirectory older = open_directory(directory.path);
  const JournalContent content = read_journal(older);
  CHECK(content.records.size() == 4);
  CHECK(content.left_out.size() == 2);
  REQUIRE(content.warnings.size() == 1);
  CHECK_THAT(content.warnings[0],
             Catch::Contains("runs 5, 6, not in plan.csv") && Catch::Contains("`doetune restore "));
  CHECK_THROWS_WITH(Journal(older), Catch::Contains("older than the journal") &&
                                        Catch::Contains("`doetune restore "));
  CHECK_THROWS_WITH(add_confirmation(older, -0.5), Catch::Contains("older than the journal"));

  restore_directory(directory.path);
  older = open_directory(directory.path);
  CHECK(read_journal(older).records.size() == 6);
  CHECK_NOTHROW(add_confirmation(older, -0.5));
  CHECK(older.plan.runs.back().run == 8);
}

TEST_CASE("A record at other settings than its run's is not a result of it", "[study][journal]") {
  const TemporaryDirectory temporary;
  const StudyDirectory directory = planned(temporary / "s");
  RunRecord other = measured(directory, 2);
  other.settings["a"] = "0.25";
  {
    Journal journal(directory);
    journal.append(measured(directory, 1));
    journal.append(other);
  }
  const JournalContent content = read_journal(directory);
  CHECK(content.records.size() == 1);
  REQUIRE(content.warnings.size() == 1);
  CHECK_THAT(content.warnings[0], Catch::Contains("left out: run 2, measured at other settings") &&
                                      Catch::Contains("a=0.25"));
  CHECK(Journal(directory).content().records.size() == 1);
}

TEST_CASE("The journal of another plan is no study's", "[study][journal]") {
  const TemporaryDirectory temporary;
  const StudyDirectory directory = planned(temporary / "s");
  Journal(directory.journal(), "s", "another");
  CHECK_THROWS_WITH(read_journal(directory), Catch::Contains("do not belong to the plan"));
}

TEST_CASE("A journal of 0.1.0, without settings and sheet, is read and goes on",
          "[study][journal]") {
  const TemporaryDirectory temporary;
  StudyDirectory directory = planned(temporary / "s");
  write_old_journal(directory, 4);
  CHECK(read_journal(directory).records.size() == 4);
  CHECK(read_journal(directory).warnings.empty());
  CHECK_THROWS_WITH(restore_directory(directory.path), Catch::Contains("no run sheet"));

  SECTION("the next writer keeps the sheet") {
    add_confirmation(directory, 0.5);
    const JournalContent content = read_journal(directory);
    CHECK(content.records.size() == 4);
    CHECK(content.sheet == sheet_of(directory));
  }
  SECTION("runs beyond the sheet are left out, and their numbers not used again") {
    write_old_journal(directory, 6);
    CHECK(read_journal(directory).records.size() == 8);  // two for each run
    CHECK(read_journal(directory).left_out.size() == 2);
    CHECK_THROWS_WITH(add_confirmation(directory, 0.5), Catch::Contains("runs 5, 6"));
  }
}

TEST_CASE("A plan.json of 0.1.0 does not say the region, and opens", "[study][directory]") {
  const TemporaryDirectory temporary;
  const StudyDirectory directory = planned(temporary / "s");
  std::string text = read_file(directory.path / "plan.json");
  text.replace(text.find("\"region\""), 8, "\"unused\"");
  put(directory.path / "plan.json", text);
  CHECK_NOTHROW(open_directory(directory.path));
}

TEST_CASE("A range or constraint that was changed after planning is refused by its position",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const StudyDirectory directory = planned(temporary / "s");
  struct Change {
    std::string from, to, message;
  };
  for (const auto& [from, to, message] : std::vector<Change>{
           {"high: 1", "high: 9",
            "study.yaml:4:3: factors.a: planned as 'continuous from -1 to 1', now 'continuous from "
            "-1 to 9'"},
           {"high: 1", "high: 1, step: 0.5", "now 'continuous from -1 to 1, step 0.5'"},
           {"[slow, fast]", "[slow, fast, warp]", "study.yaml:5:3: factors.b: planned as"},
           {"model:", "constraints: [a <= 0.5]\nmodel:",
            "study.yaml:6:14: constraints: planned as '', now 'a <= 0.5'"},
           {"model:", "forbidden: [{a: 1, b: slow}]\nmodel:", "now 'a = 1 and b = slow'"}}) {
    CAPTURE(to);
    std::string text = kSheetStudy;
    text.replace(text.find(from), from.size(), to);
    put(directory.path / "study.yaml", text);
    CHECK_THROWS_WITH(open_directory(directory.path),
                      Catch::Contains(message) && Catch::Contains("`doetune import "));
  }
  std::string text = kSheetStudy;
  text.replace(text.find("high: 1"), 7, "high: 1, baseline: 0.5, unit: s");
  put(directory.path / "study.yaml", text);
  CHECK_NOTHROW(open_directory(directory.path));  // these edits do not matter
}

TEST_CASE("A run sheet is numbered from 1 without gaps", "[study][plan]") {
  const Study study = parse_study(kSheetStudy, "s.yaml");
  std::string csv = plan_csv(study, make_plan(study));
  csv.replace(csv.find("\n2,"), 3, "\n7,");
  CHECK_THROWS_WITH(read_plan_csv(study, csv, "plan.csv"),
                    Catch::Contains("plan.csv:3: expected run 2, found 7"));
}

TEST_CASE("A run without a result in results.csv is still to be made", "[study][import]") {
  const TemporaryDirectory temporary;
  put(temporary / "results.csv",
      "a,b,status,y\n-1,slow,completed,1\n1,slow,failed,\n-1,fast,,\n1,fast,,4\n");
  const Study study = parse_study(kSheetStudy, temporary / "s.yaml");
  const auto directory = import_runs(study, temporary / "results.csv", temporary / "s", false);
  CHECK(directory.plan.runs.size() == 4);
  const auto records = final_records(read_journal(directory).records);
  CHECK(records.at(1).status == RunStatus::kCompleted);
  CHECK(records.at(2).status == RunStatus::kFailed);
  CHECK_FALSE(records.contains(3));
  CHECK(records.at(4).status == RunStatus::kCompleted);
}

TEST_CASE("An import is all of the table's rows or none", "[study][import]") {
  const TemporaryDirectory temporary;
  std::string table = "a,b,y\n";
  for (int row = 0; row < 300; ++row) {
    table += std::to_string(row % 7 * 0.1) + (row % 2 == 0 ? ",slow,1\n" : ",fast,2\n");
  }
  put(temporary / "data.csv", table);
  const Study study = parse_study(kSheetStudy, temporary / "s.yaml");
  const fs::path path = temporary / "s";

  // A file size limit acts like a full disk, or a kill while writing.
  const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 20'000;  // enough for the sheet, but not for the journal
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK_THROWS_WITH(import_runs(study, temporary / "data.csv", path, false),
                    Catch::Contains("runs.jsonl: cannot be written"));
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  ::signal(SIGXFSZ, old_handler);
  CHECK_FALSE(fs::exists(path / "runs.jsonl"));
  CHECK_THROWS_AS(open_directory(path), DirectoryError);

  put(path / "runs.jsonl.4711.partial", "{\"doetune_journal\":1");  // as left by a kill
  flushed.clear();
  CHECK(import_runs(study, temporary / "data.csv", path, false).plan.runs.size() == 300);
  CHECK(flushed.size() < 12);  // not one per row
  CHECK(read_journal(open_directory(path)).records.size() == 300);

  // Killed after the journal was renamed into place: the same import, or `restore`, writes the
  // rest.
  for (const std::string& name : kFiles) fs::remove(path / name);
  CHECK(restore_directory(path).runs == 300);
  CHECK(read_journal(open_directory(path)).records.size() == 300);
  for (const std::string& name : kFiles) fs::remove(path / name);
  CHECK(import_runs(study, temporary / "data.csv", path, false).plan.runs.size() == 300);
  CHECK(read_journal(open_directory(path)).records.size() == 300);
  // Other rows are another study.
  for (const std::string& name : kFiles) fs::remove(path / name);
  put(temporary / "data.csv", table + "0.5,slow,1\n");
  CHECK_THROWS_WITH(import_runs(study, temporary / "data.csv", path, false),
                    Catch::Contains("`doetune restore "));
}
