#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "base/host.h"
#include "study/augment.h"
#include "study/directory/directory.h"
#include "study/directory/import.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"
#include "study/directory/results.h"
#include "study/directory/tell.h"
#include "study/tables/csv.h"
#include "study/tables/table_file.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using namespace doetune::tests;
namespace fs = std::filesystem;

namespace {

constexpr const char* kStudy = R"(seed: 7
command: [/bin/true]
factors:
  n: {low: 1, high: 3, type: integer}
  precision: {levels: [fp32, "bf16, fast"]}
  rate: {low: 1, high: 9}
responses: {y: {unit: s}}
design: {type: fccd}
)";

study::Study fccd_study() { return study::parse_study(kStudy, "fccd.yaml"); }

void write_text(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

TEST_CASE("The plan is the design in an order that the seed fixes", "[study][plan]") {
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  REQUIRE(plan.runs.size() == 2 * (4 + 4 + 6));
  std::set<int> standard;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    CHECK(plan.runs[i].run == static_cast<int>(i) + 1);
    standard.insert(plan.runs[i].standard_order);
  }
  CHECK(standard.size() == plan.runs.size());
  CHECK(study::plan_csv(study, plan) == study::plan_csv(study, study::make_plan(study)));
  study::Study other = study;
  other.seed = 8;
  CHECK(study::plan_csv(study, plan) != study::plan_csv(other, study::make_plan(other)));
  CHECK(plan.evaluation.d_efficiency);
}

TEST_CASE("The smallest number there is may be the end of a range", "[study][plan]") {
  const study::Study study = study::parse_study(
      "command: [x]\nfactors: {a: {low: 5e-324, high: 1, step: 0.1}, b: {low: 0, high: 1}}\n"
      "responses: {y: {}}\n",
      "s.yaml");
  const study::Plan plan = study::make_plan(study);
  const auto settings = [&](const study::PlannedRun& run) { return run.settings[0]; };
  CHECK(settings(*std::ranges::min_element(plan.runs, {}, settings)) == 5e-324);
}

TEST_CASE("The run sheet reads back as it was written", "[study][plan]") {
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  const std::string csv = study::plan_csv(study, plan);
  CHECK(csv.starts_with("run,standard_order,point_type,block,replicate,n,precision,rate\n"));
  const std::vector<study::PlannedRun> runs = study::read_plan_csv(study, csv, "plan.csv");
  REQUIRE(runs.size() == plan.runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(runs[i].settings == plan.runs[i].settings);
    CHECK(runs[i].type == plan.runs[i].type);
  }
  CHECK_THROWS_WITH(study::read_plan_csv(study, "run,n\n1,2\n", "plan.csv"),
                    Catch::Contains("plan.csv:1: expected the columns"));
  std::string damaged = csv;
  damaged.replace(damaged.find("fp32"), 4, "fp33");
  CHECK_THROWS_WITH(study::read_plan_csv(study, damaged, "plan.csv"),
                    Catch::Contains("'fp33' is not a setting of factor 'precision'"));
}

namespace {

constexpr const char* kSplitPlot = R"(command: [/bin/true]
factors:
  model: {levels: [small, large], hard_to_change: true}
  rate: {low: 1, high: 9}
model: interactions
design: {type: d-optimal, runs: 8, whole_plots: 4, starts: 10}
responses: {y: {}}
)";

}  // namespace

TEST_CASE("Weights that are all 0 are refused with the file's name", "[study][plan]") {
  const std::string file = R"(command: [/bin/true]
factors: {rate: {low: 1, high: 9}}
design: {type: compound-optimal, weights: {d: 0, i: 0}}
responses: {y: {}}
)";
  CHECK_THROWS_WITH(study::make_plan(study::parse_study(file, "none.yaml")),
                    Catch::Contains("design: weights:"));
}

TEST_CASE("Whole plots are a column of the run sheet, and its runs keep together",
          "[study][plan]") {
  const study::Study study = study::parse_study(kSplitPlot, "split.yaml");
  const study::Plan plan = study::make_plan(study);
  REQUIRE(plan.runs.size() == 8);
  for (std::size_t i = 0; i < 8; i += 2) {
    CHECK(plan.runs[i].whole_plot == plan.runs[i + 1].whole_plot);
    CHECK(plan.runs[i].settings[0] == plan.runs[i + 1].settings[0]);
  }
  const std::string csv = study::plan_csv(study, plan);
  CHECK(csv.starts_with("run,standard_order,point_type,block,replicate,whole_plot,model,rate\n"));
  const std::vector<study::PlannedRun> runs = study::read_plan_csv(study, csv, "plan.csv");
  REQUIRE(runs.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(runs[i].whole_plot == plan.runs[i].whole_plot);
    CHECK(runs[i].settings == plan.runs[i].settings);
  }
}

TEST_CASE("Imported runs and added ones have whole plots too", "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(kSplitPlot, temporary.path() / "s.yaml");
  write_text(data, "whole_plot,model,rate,y\n1,small,1,1\n1,small,9,2\n2,large,1,3\n2,large,9,4\n");
  auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  REQUIRE(directory.plan.runs.size() == 4);
  CHECK(directory.plan.runs[3].whole_plot == 2);
  CHECK_THAT(study::read_file(directory.results_csv()),
             Catch::StartsWith("run,standard_order,point_type,block,replicate,whole_plot,model,"));
  study::Augmentation more;
  more.runs = 4;
  more.model = study.model;
  const study::Plan plan = study::augmented_plan(directory, more);
  REQUIRE(plan.runs.size() == 8);
  std::map<int, std::set<double>> models;
  for (const study::PlannedRun& run : plan.runs) models[run.whole_plot].insert(run.settings[0]);
  REQUIRE(models.size() == 4);  // two runs each on average, as before
  for (const auto& [plot, settings] : models) CHECK(settings.size() == 1);
  study::extend_directory(directory, plan);
  CHECK(study::open_directory(directory.path).plan.runs[7].whole_plot == plan.runs[7].whole_plot);
  write_text(data, "whole_plot,model,rate,y\nfirst,small,1,1\n2,large,1,1\n");
  CHECK_THROWS_WITH(
      study::import_runs(study, data, temporary.path() / "t", false),
      Catch::Contains("whole_plot: expected an integer of at least 1, or names in all rows, found "
                      "'first'"));
}

TEST_CASE("A design that cannot carry the model is refused before anything runs", "[study][plan]") {
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 1}}\nresponses: {y: {}}\nmodel: cubic\ndesign: {type: fccd}\n",
      "s.yaml");
  CHECK_THROWS_WITH(study::make_plan(study),
                    Catch::Contains("do not determine the model") && Catch::Contains("a^3"));
}

TEST_CASE("Of many aliased terms a message names eight", "[study][plan]") {
  std::string factors;
  for (char name = 'a'; name <= 'k'; ++name)
    factors += fmt::format("  {}: {{low: 0, high: 1}}\n", name);
  const study::Study study = study::parse_study(
      "factors:\n" + factors +
          "responses: {y: {}}\nmodel: quadratic\ndesign: {type: plackett-burman}\n",
      "s.yaml");
  CHECK_THROWS_WITH(study::make_plan(study),
                    Catch::Matches(".*: ([^,]+, ){7}[^,]+ and [0-9]+ more are aliased .*"));
}

TEST_CASE("A study directory opens as it was made", "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "fccd";
  const study::Study study = fccd_study();
  const auto made = study::create_directory(path, study, study::make_plan(study), false);
  const auto opened = study::open_directory(path);
  CHECK(opened.plan_hash == made.plan_hash);
  CHECK(opened.study.name == "fccd");
  CHECK(opened.plan.runs.size() == made.plan.runs.size());
  CHECK(opened.working_directory == made.working_directory);
  CHECK(study::find_directory(path) == path);
  CHECK(opened.attempt(7, 1).filename() == "0007.1");
}

TEST_CASE("A directory that another thread is creating is never taken for another's",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  for (int round = 0; round < 100; ++round) {
    const fs::path path = temporary.path() / std::to_string(round);
    const auto made =
        std::async(std::launch::async, [&] { study::create_directory(path, study, plan, false); });
    while (!study::is_study_directory(path)) {
      try {
        study::create_directory(path, study, plan, false);
      } catch (const study::DirectoryInUse&) {
      } catch (const study::DirectoryError& error) {
        CHECK_THAT(error.what(), Catch::Contains("already contains a plan"));
      }
    }
    CHECK(study::open_directory(path).plan.runs.size() == plan.runs.size());
  }
}

TEST_CASE("Runs that do not determine the model are imported, but not planned", "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path table = temporary.path() / "runs.csv";
  write_text(table, "a,b,y\n0,0,1\n1,1,2\n");
  const std::string text =
      "factors: {a: {low: 0, high: 1}, b: {low: 0, high: 1}}\n"
      "responses: {y: {}}\n";
  const auto directory = study::import_runs(study::parse_study(text, temporary.path() / "s.yaml"),
                                            table, temporary.path() / "s", false);
  CHECK(directory.plan.runs.size() == 2);
  CHECK(directory.plan.notes.back() == "2 runs do not determine the 6 coefficients of the model");
  const study::Study planned = study::parse_study(text + "design: {type: table, file: runs.csv}\n",
                                                  temporary.path() / "t.yaml");
  CHECK_THROWS_WITH(study::make_plan(planned), Catch::Contains("do not determine the model"));
}

TEST_CASE("A plan without a design names the next better one", "[study][plan]") {
  const study::Study study =
      study::parse_study("factors: {w: {levels: [x, y, z]}}\nresponses: {y: {}}\n", "s.yaml");
  CHECK(study.design.type == "full-factorial");
  CHECK(study.model_name == "linear");
  const study::Plan plan = study::make_plan(study);
  CHECK(plan.runs.size() == 6);
  CHECK(std::find(plan.notes.begin(), plan.notes.end(),
                  "the study names no design, so full-factorial is proposed; the next better one: "
                  "design: {type: full-factorial, replicates: 3}, 9 runs") != plan.notes.end());

  const study::Study modelled = study::parse_study(
      "factors: {w: {levels: [x, y, z]}, a: {low: 0, high: 1}}\nresponses: {y: {}}\n"
      "model: linear\n",
      "s.yaml");
  CHECK(modelled.design.type == "auto");  // the proposal is for a quadratic model
  CHECK(study::make_plan(modelled).runs.size() <= 9);
}

TEST_CASE("A plan is replaced only by force, and never once it has runs", "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "fccd";
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  const auto directory = study::create_directory(path, study, plan, false);
  CHECK_THROWS_WITH(study::create_directory(path, study, plan, false), Catch::Contains("--force"));
  CHECK_NOTHROW(study::create_directory(path, study, plan, true));
  {
    study::Journal journal(directory.journal(), study.name, directory.plan_hash);
    study::RunRecord record;
    record.run = 1;
    journal.append(record);
  }
  CHECK_THROWS_WITH(study::create_directory(path, study, plan, true),
                    Catch::Contains("contains runs"));
  CHECK_THROWS_WITH(study::create_directory(temporary.path(), study, plan, true),
                    Catch::Contains("not a study directory"));
}

TEST_CASE("A damaged study directory says what is wrong and what to do", "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "fccd";
  const study::Study study = fccd_study();
  const auto fresh = [&] {
    fs::remove_all(path);
    study::create_directory(path, study, study::make_plan(study), false);
  };
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("no such study directory"));
  fresh();
  fs::remove(path / "plan.json");
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("incomplete"));
  fresh();
  fs::remove(path / "plan.csv");
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("plan.csv is missing"));
  fresh();
  write_text(path / "plan.json", "{\"format\": ");
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("plan.json:1: is damaged"));
  fresh();
  write_text(path / "plan.json", R"({"format": 99, "doetune": "9.0"})");
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("newer doetune (9.0)"));
  fresh();
  write_text(path / "study.yaml", study.text + "settings: {k: 1}\n");
  CHECK_THROWS_WITH(study::open_directory(path), Catch::Contains("changed after planning"));
  fresh();
  write_text(path / "study.yaml", std::string(kStudy) + "confirm: {runs: 3}\n");
  CHECK_NOTHROW(study::open_directory(path));  // the edit does not affect what a run executes
}

TEST_CASE("One writer at a time", "[study][directory]") {
  const TemporaryDirectory temporary;
  const study::Study study = fccd_study();
  const auto directory =
      study::create_directory(temporary.path() / "fccd", study, study::make_plan(study), false);
  {
    const study::DirectoryLock lock(directory.path);
    CHECK_THROWS_WITH(
        study::DirectoryLock(directory.path),
        Catch::Contains("in use by another doetune (process " + std::to_string(getpid())));
  }
  CHECK_NOTHROW(study::DirectoryLock(directory.path));
}

TEST_CASE("A hold is shared by the locks of its thread, and by no others", "[study][directory]") {
  const TemporaryDirectory temporary;
  const auto lock = [&] { const study::DirectoryLock taken(temporary.path()); };
  const auto elsewhere = [&] { std::async(std::launch::async, lock).get(); };
  {
    const study::DirectoryHold hold(temporary.path());
    CHECK_NOTHROW(lock());
    CHECK_THROWS_AS(elsewhere(), study::DirectoryInUse);  // also after a lock that shared it
  }
  CHECK_NOTHROW(elsewhere());
}

TEST_CASE("A run that is told while others are added is told again", "[study][directory]") {
  const TemporaryDirectory temporary;
  const study::Study study = fccd_study();
  const auto opened =
      study::create_directory(temporary.path() / "fccd", study, study::make_plan(study), false);
  study::ToldRun told{1, study::RunStatus::kFailed, "no GPU", {}};
  CHECK(study::tell_run(opened, told));
  study::StudyDirectory other = opened;
  study::Plan more = other.plan;
  study::append_run(more, doe::PointType::kProposed, more.runs.front().settings);
  study::extend_directory(other, more);
  told.reason = "no memory";
  CHECK_THROWS_AS(study::tell_run(opened, told), study::DirectoryInUse);
  int calls = 0;
  CHECK(study::when_free([&] {
    return study::tell_run(++calls == 1 ? opened : study::open_directory(opened.path), told);
  }));
  CHECK(calls == 2);
}

TEST_CASE("A lock that lost its file holds all the same, and makes the file again",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "study", file = path / "lock";
  fs::create_directory(path);
  study::DirectoryLock lock(path);
  fs::remove(file);
  CHECK_THROWS_WITH(study::DirectoryLock(path), Catch::Contains("in use by another doetune"));
  CHECK_NOTHROW(lock.check());
  CHECK(study::lock_owner(path) == fmt::format("process {} on {}", getpid(), host_name()));

  // From another machine the directory lock is not visible: only the file counts.
  fs::remove(file);
  const FileDescriptor other(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  REQUIRE(flock(other.get(), LOCK_EX | LOCK_NB) == 0);
  CHECK_THROWS_WITH(lock.check(), Catch::Contains("in use by another doetune"));
}

TEST_CASE("A lock knows when its directory was moved, deleted or replaced", "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "study";
  fs::create_directory(path);
  study::DirectoryLock lock(path);
  CHECK_NOTHROW(lock.check());
  fs::rename(path, temporary.path() / "moved");
  CHECK_THROWS_WITH(lock.check(), Catch::Contains("was moved or deleted"));
  fs::create_directory(path);
  CHECK_THROWS_WITH(lock.check(), Catch::Contains("was moved or deleted"));
  CHECK_FALSE(fs::exists(path / "lock"));
  fs::remove(path);
  fs::rename(temporary.path() / "moved", path);
  CHECK_NOTHROW(lock.check());
}

TEST_CASE("The directory meant is the only one in or under the current", "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path before = fs::current_path();
  const study::Study study = fccd_study();
  fs::current_path(temporary.path());
  CHECK_THROWS_WITH(study::find_directory({}), Catch::Contains("no study directory"));
  study::create_directory("one", study, study::make_plan(study), false);
  CHECK(study::find_directory({}) == "one");
  study::create_directory("two", study, study::make_plan(study), false);
  CHECK_THROWS_WITH(study::find_directory({}), Catch::Contains("one") && Catch::Contains("two"));
  fs::current_path("two");
  CHECK(study::find_directory({}) == ".");
  fs::current_path(before);
}

TEST_CASE("Imported runs are the rows of the table", "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 2}}\nmodel: linear\n"
      "responses: {y: {}, z: {}, twice: {formula: 'y * 2'}}\n",
      temporary.path() / "s.yaml");
  write_text(data, "\xEF\xBB\xBFnote,a,y,z\r\n\"x, y\",0,1.5,3\r\n,1,2.5,\r\n\r\n,2,3.5,5\r\n");
  const auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  REQUIRE(directory.plan.runs.size() == 3);
  const auto records = study::read_journal(directory.journal()).records;
  REQUIRE(records.size() == 3);
  CHECK(records[0].responses == std::map<std::string, double>{{"y", 1.5}, {"z", 3}, {"twice", 3}});
  CHECK(records[1].responses == std::map<std::string, double>{{"y", 2.5}, {"twice", 5}});
  CHECK(fs::exists(directory.results_csv()));
  CHECK_NOTHROW(study::open_directory(directory.path));
}

TEST_CASE("Imported runs keep their settings and responses, allowed or not", "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 10}, b: {low: 0, high: 10}}\nmodel: linear\n"
      "constraints: ['a + b <= 15']\nresponses: {y: {}}\n",
      temporary.path() / "s.yaml");
  write_text(data, "a,b,y\n0,0,1\n10,10,999\n10,0,11\n0,10,21\n3.333,1.234,5\n3.333,1.234,6\n");
  const auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  const auto records = study::read_journal(directory.journal()).records;
  REQUIRE(records.size() == 6);
  const std::vector<double> expected{1, 999, 11, 21, 5, 6};
  for (std::size_t i = 0; i < 6; ++i) CHECK(records[i].responses.at("y") == expected[i]);
  CHECK(directory.plan.runs[1].settings == std::vector<double>{10, 10});
  CHECK(directory.plan.runs[4].settings == std::vector<double>{3.333, 1.234});
  CHECK(directory.plan.runs[5].replicate == 2);
  const auto reopened = study::open_directory(directory.path);
  CHECK(reopened.plan.runs[4].settings == std::vector<double>{3.333, 1.234});
}

TEST_CASE("A table's runs are planned as given, and refused where they are not allowed",
          "[study][plan]") {
  const TemporaryDirectory temporary;
  write_text(temporary.path() / "runs.csv", "a\n3\n512\n1000\n");
  const std::string text =
      "factors: {a: {low: 0, high: 1000}}\nmodel: linear\nresponses: {y: {}}\n"
      "design: {type: table, file: runs.csv}\n";
  const study::Plan plan = study::make_plan(study::parse_study(text, temporary.path() / "s.yaml"));
  CHECK(plan.runs[1].settings == std::vector<double>{512});
  CHECK_THROWS_WITH(study::make_plan(study::parse_study(text + "constraints: ['a < 600']\n",
                                                        temporary.path() / "s.yaml")),
                    Catch::Contains("runs.csv:4:") && Catch::Contains("a < 600"));
}

TEST_CASE("A plan in use, or with attempts that nobody has recorded, is not replaced",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "fccd";
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  study::create_directory(path, study, plan, false);
  {
    const study::DirectoryLock running(path);
    CHECK_THROWS_WITH(study::create_directory(path, study, plan, true), Catch::Contains("in use"));
  }
  fs::create_directories(path / "runs" / "0001.1");
  CHECK_THROWS_WITH(study::create_directory(path, study, plan, true),
                    Catch::Contains("contains runs"));
}

TEST_CASE("A plan that was stopped in the middle is made again by the same command",
          "[study][directory]") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path() / "fccd";
  const study::Study study = fccd_study();
  const study::Plan plan = study::make_plan(study);
  const auto make_again = [&] {
    CHECK_NOTHROW(study::create_directory(path, study, plan, false));
    CHECK(study::open_directory(path).plan.runs.size() == plan.runs.size());
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename());
    CHECK(names == std::set<std::string>{"lock", "plan.csv", "plan.json", "study.yaml"});
    fs::remove_all(path);
    fs::create_directory(path);
  };
  fs::create_directory(path);
  write_text(path / "lock", "process 17 on node1\n");
  make_again();  // killed before the first file
  write_text(path / "lock", "process 17 on node1\n");
  write_text(path / "study.yaml.2147483647.partial", "factors");
  make_again();  // killed while writing it: no process has this number
  write_text(path / "study.yaml", study.text);
  write_text(path / "plan.csv.2147483647.partial", "run");
  make_again();
  write_text(path / "study.yaml", study.text);
  write_text(path / "plan.csv", "run");
  make_again();

  // A user's own file is not a trace of a plan, and another study file is not replaced without
  // --force.
  write_text(path / "study.yaml", "factors: {}\n");
  CHECK_THROWS_WITH(study::create_directory(path, study, plan, false), Catch::Contains("--force"));
  CHECK_THROWS_WITH(study::open_directory(path),
                    Catch::Contains("doetune plan STUDY.yaml -o " + path.string() + " --force"));
  CHECK_NOTHROW(study::create_directory(path, study, plan, true));
  fs::remove_all(path);
  fs::create_directory(path);
  write_text(path / "notes.partial", "");
  CHECK_THROWS_WITH(study::create_directory(path, study, plan, true),
                    Catch::Contains("choose another -o DIR, such as " + path.string() + "-2"));
}

TEST_CASE("Tables with mistakes are refused by line and column", "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(
      "factors: {rate: {low: 0, high: 2}}\nmodel: linear\nresponses: {time: {}}\n", "s.yaml");
  const auto message = [&](const std::string& text) -> std::string {
    write_text(data, text);
    try {
      study::import_runs(study, data, temporary.path() / "s", true);
    } catch (const study::StudyError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(message(""),
             Catch::Contains(":1: the table is empty; expected a row of column names"));
  CHECK_THAT(message("rate,time\n"), Catch::Contains(":1: the table has no rows below its header"));
  CHECK_THAT(message("rate,tme\n1,2\n"),
             Catch::Contains(":1:") && Catch::Contains("did you mean 'tme'?"));
  write_text(data, "rate,time\n1,2\n3,4\n");  // planned; measured runs are taken
  CHECK_THROWS_WITH(
      study::read_table(study, data, {}),
      Catch::Contains(":3:") && Catch::Contains("'3' is not a setting of factor 'rate'"));
  CHECK_THAT(message("rate,time\nfast,2\n"), Catch::Contains(":2:") && Catch::Contains("'fast'"));
  CHECK_THAT(message("rate,time\n1,nan\n"),
             Catch::Contains("expected a number, or an empty cell if it is missing, found 'nan'"));
  CHECK_THAT(message("rate,time\n1\n"), Catch::Contains("1 cells, but the header has 2"));
  CHECK_THAT(message("rate,time\n1,2\n\"1,2\n"),
             Catch::Contains(":3: a quote is opened but never closed"));
  CHECK_THAT(message("rate,time\n1,2,5\n"),
             Catch::Contains(":2:") && Catch::Contains("with a point"));
  CHECK_THAT(message("rate,rate,time\n1,2,3\n"),
             Catch::Contains(":1: two columns are named 'rate'"));
  CHECK_THAT(message("rate,time,time\n1,2,3\n"),
             Catch::Contains(":1: two columns are named 'time'"));
  CHECK_THAT(message("rate,time\n1,2\n1,\xff\n"), Catch::Contains(":3: this is not text"));
  CHECK_THAT(message("rate,time\n1,\x1b[31m2\n"), Catch::Contains(":2: this is not text"));
  CHECK(message(" rate , time\n 0,2\n 1 ,3\n2,\t4\n") == "accepted");  // blanks beside commas
}

TEST_CASE("CSV cells survive commas, quotes and line ends", "[study][csv]") {
  const std::vector<std::string> cells{"plain", "a,b", "say \"x\"", "two\nlines", ""};
  const auto rows = study::parse_csv(study::csv_row(cells));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].cells == cells);
}

TEST_CASE("Cells that spreadsheets would compute are marked as text, and read back",
          "[study][csv]") {
  for (const std::string cell :
       {"=1+1", "=HYPERLINK(\"x\")", "@SUM(A1)", "-2+3+cmd|' /C calc'!A0", "+A1(", "'=1", "''@x"}) {
    CHECK(study::shown_as_text(cell) == "'" + cell);
    CHECK(study::without_text_mark(study::shown_as_text(cell)) == cell);
  }
  for (const std::string cell :
       {"", "8", "-8.5e-3", "+1", "-O3", "--fast-math", "a=b", "'", "it's"}) {
    CHECK(study::shown_as_text(cell) == cell);
    CHECK(study::without_text_mark(cell) == cell);
  }
}

TEST_CASE("Levels that begin as formulas do are exported as text, and imported again",
          "[study][csv]") {
  const TemporaryDirectory temporary;
  const study::Study study = study::parse_study(
      "command: [x]\nfactors: {f: {levels: ['=1+1', '@b', -O3]}}\nresponses: {y: {}}\n"
      "design: {type: full-factorial}\nmodel: linear\n",
      temporary.path() / "s.yaml");
  const auto planned =
      study::create_directory(temporary.path() / "s", study, study::make_plan(study), false);
  std::map<int, study::RunRecord> records;
  for (int run = 1; run <= 3; ++run) {
    records[run].run = run;
    records[run].status = study::RunStatus::kCompleted;
    records[run].responses = {{"y", run}};
  }
  const std::string csv = study::results_csv(planned, records);
  CHECK_THAT(csv,
             Catch::Contains(",'=1+1,") && Catch::Contains(",'@b,") && Catch::Contains(",-O3,"));
  write_text(temporary.path() / "data.csv", csv);
  const auto imported =
      study::import_runs(study, temporary.path() / "data.csv", temporary.path() / "i", false);
  CHECK(imported.plan.runs.size() == 3);
}

TEST_CASE("Imported runs keep their blocks, and those that could not run are reported",
          "[study][plan]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  write_text(data, "a,y,block,status\n1,10,1,completed\n2,,2,infeasible\n3,30,2,\n");
  const study::Study study = study::parse_study(
      "factors: {a: {low: 1, high: 9}}\nresponses: {y: {}}", temporary.path() / "s.yaml");
  const auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  CHECK(directory.plan.runs[1].block == 2);
  const auto records = study::final_records(study::read_journal(directory.journal()).records);
  CHECK(records.at(1).status == study::RunStatus::kCompleted);
  CHECK(records.at(2).status == study::RunStatus::kInfeasible);
  CHECK(records.at(3).responses.at("y") == 30);
  write_text(data, "a,y,status\n1,10,broken\n");
  CHECK_THROWS_WITH(study::import_runs(study, data, temporary.path() / "t", false),
                    Catch::Contains("data.csv:2: status: 'broken' is not a status of a run"));
}

TEST_CASE("Tables of spreadsheets with semicolons, decimal commas and named blocks are read",
          "[study][import]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(
      "factors: {a: {low: 0, high: 9}, mode: {levels: ['x', 'y,z']}}\nmodel: linear\n"
      "responses: {y: {}}\n",
      temporary.path() / "s.yaml");
  for (const char separator : {';', '\t'}) {
    std::string text = "a;mode;y;block\n0,5;x;1e1;tuesday\n2;y,z;-2,25;monday\n9;x;3.5;tuesday\n";
    std::replace(text.begin(), text.end(), ';', separator);
    write_text(data, text);
    const fs::path path = temporary.path() / (separator == ';' ? "semicolons" : "tabs");
    const auto directory = study::import_runs(study, data, path, false);
    REQUIRE(directory.plan.runs.size() == 3);
    CHECK(directory.plan.runs[0].settings == std::vector<double>{0.5, 0});
    CHECK(directory.plan.runs[1].settings == std::vector<double>{2, 1});
    CHECK(directory.plan.runs[0].block == 1);
    CHECK(directory.plan.runs[1].block == 2);
    CHECK(directory.plan.runs[2].block == 1);
    const auto records = study::final_records(study::read_journal(directory.journal()).records);
    CHECK(records.at(1).responses.at("y") == 10);
    CHECK(records.at(2).responses.at("y") == -2.25);
  }
}

TEST_CASE("Measured runs outside a numeric factor's range are taken, and told", "[study][plan]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  const study::Study study = study::parse_study(
      "factors: {a: {low: 1, high: 5}, n: {levels: [1, 2, 4], scale: log2}, w: {levels: [x, y]}}\n"
      "model: linear\nresponses: {y: {}}",
      temporary.path() / "s.yaml");
  write_text(data, "a,n,w,y\n1,1,x,10\n5,2,y,20\n9,4,x,30\n7,8,y,40\n3,4,y,50\n");
  const auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  CHECK(directory.plan.runs[2].settings[0] == 9);
  CHECK(directory.plan.coded(study.factors)(2, 0) == Approx(3));
  const auto cautions = study::range_cautions(directory);
  REQUIRE(cautions.size() == 2);
  CHECK_THAT(cautions[0], Catch::Contains("2 of 5 runs outside the range of 'a', 1 to 5"));
  CHECK_THAT(cautions[1], Catch::Contains("1 of 5 runs outside the range of 'n', 1 to 4"));
  CHECK(study::open_directory(directory.path).plan.runs.size() == 5);
  CHECK(study::read_journal(study::open_directory(directory.path)).records.size() == 5);

  for (const char* row : {"3,3,x,1\n", "3,-8,x,1\n", "3,1,z,1\n"}) {  // unlisted, no logarithm
    write_text(data, std::string("a,n,w,y\n") + row);
    CHECK_THROWS_WITH(study::import_runs(study, data, temporary.path() / "t", false),
                      Catch::Contains("data.csv:2: ") && Catch::Contains("is not a setting of"));
  }
}

TEST_CASE("Imported confirmation and baseline runs remain such", "[study][plan]") {
  const TemporaryDirectory temporary;
  const fs::path data = temporary.path() / "data.csv";
  write_text(data,
             "point_type,block,a,y\nfactorial,1,1,10\ncenter,1,5,20\nfactorial,1,9,30\n"
             "confirmation,2,9,31\nbaseline,2,1,11\n");
  const study::Study study =
      study::parse_study("factors: {a: {low: 1, high: 9}}\nmodel: linear\nresponses: {y: {}}",
                         temporary.path() / "s.yaml");
  const auto directory = study::import_runs(study, data, temporary.path() / "s", false);
  CHECK(directory.plan.runs[3].type == doe::PointType::kConfirmation);
  CHECK(directory.plan.runs[4].type == doe::PointType::kBaseline);
  CHECK(directory.plan.runs[2].type == doe::PointType::kTable);
  CHECK(directory.plan.evaluation.runs == 3);  // the runs that are fitted
}
