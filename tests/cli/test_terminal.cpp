#include <catch2/catch.hpp>

#include "cli/command.h"
#include "cli/options/run_numbers.h"
#include "cli/runs/outlying_runs.h"
#include "cli/terminal/terminal.h"

using namespace doetune;

TEST_CASE("Tables align words to the left and numbers to the right", "[cli]") {
  cli::TextTable table({"factor", "setting"});
  table.add({"batch_size", "8"});
  table.add({"rate", "128"});
  CHECK(table.str() ==
        "  factor      setting\n"
        "  batch_size        8\n"
        "  rate            128\n");
}

TEST_CASE("Columns count characters, not bytes", "[cli]") {
  CHECK(character_count("R\xc2\xb2 \xc2\xb7") == 4);
}

TEST_CASE("Run numbers are lists and ranges within the plan", "[cli]") {
  CHECK(cli::parse_run_numbers("--only", "3,7-9", 20) == std::vector<int>{3, 7, 8, 9});
  CHECK(cli::parse_run_numbers("--only", "", 20).empty());
  for (const char* text : {"0", "21", "a", "3-", "-3", "3,,4", "1-99999999999", "9-3"}) {
    INFO(text);
    CHECK_THROWS_AS(cli::parse_run_numbers("--only", text, 20), cli::UsageError);
  }
}

TEST_CASE("Every command has a summary and an example that names it", "[cli]") {
  for (const cli::Command& command : cli::commands()) {
    CHECK_FALSE(command.summary.empty());
    CHECK(command.example.find("doetune " + std::string(command.name)) != std::string::npos);
    CHECK(cli::find_command(command.name) == &command);
  }
}

TEST_CASE("Long texts break at spaces and keep their indent", "[cli]") {
  CHECK(cli::wrapped("one two three", 2, 10) == "one two\n  three");
  CHECK(cli::wrapped("one two", 2, 9) == "one two");
  CHECK(cli::wrapped("unbreakable words", 4, 6) == "unbreakable\n    words");
  CHECK(cli::wrapped("", 2, 10).empty());
}

TEST_CASE("A quarter of the plan is measured once more at most, and each run once", "[cli]") {
  study::Plan plan;
  for (int run = 1; run <= 9; ++run) {
    plan.runs.push_back({run, 10 - run, doe::PointType::kFactorial, 1, 1, {}});
  }
  std::vector<analysis::OutlyingRun> outlying{{7, true, {}}, {3, false, {}}, {5, false, {}}};
  CHECK(cli::within_a_quarter(plan, outlying) == std::vector<int>{3, 7});  // the outlier first
  plan.runs.push_back({10, 3, doe::PointType::kFactorial, 1, 2, {}});      // a replicate of run 7
  outlying.push_back({10, false, {}});
  const auto left = cli::not_repeated(plan, outlying);
  REQUIRE(left.size() == 2);
  CHECK(left[0].run == 3);
  CHECK(left[1].run == 5);
  CHECK(cli::within_a_quarter(plan, left) == std::vector<int>{3});
}
