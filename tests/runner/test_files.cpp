#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "runner/attempts/attempt.h"
#include "runner/processes/capped_output.h"
#include "study/directory/directory.h"
#include "tests/temporary_directory.h"

using namespace doetune;

namespace {

std::string capped(const tests::TemporaryDirectory& temporary, const std::string& text,
                   std::size_t piece) {
  runner::CappedOutput output(temporary / "stdout", 10, 5);
  for (std::size_t at = 0; at < text.size(); at += piece) output.write(text.substr(at, piece));
  output.finish();
  return study::read_file(temporary / "stdout");
}

}  // namespace

TEST_CASE("Output is kept whole, or its head and tail with what is missing between",
          "[runner][files]") {
  const tests::TemporaryDirectory temporary;
  const auto piece = GENERATE(1, 3, 7, 100);
  CAPTURE(piece);
  CHECK(capped(temporary, "", piece).empty());
  CHECK(capped(temporary, "0123456789", piece) == "0123456789");
  CHECK(capped(temporary, "0123456789abcde", piece) == "0123456789abcde");
  CHECK(capped(temporary, "0123456789abcdef", piece) ==
        "0123456789\n[doetune: 1 bytes omitted here]\nbcdef");
  CHECK(capped(temporary, "0123456789" + std::string(1000, '.') + "abcde", piece) ==
        "0123456789\n[doetune: 1000 bytes omitted here]\nabcde");
}

TEST_CASE("Output that cannot be written is reported", "[runner][files]") {
  runner::CappedOutput full("/dev/full");
  full.write("a line\n");
  full.finish();
  CHECK_THAT(full.problem(), Catch::Contains("No space left"));
  runner::CappedOutput nowhere("/nonexistent/stdout");
  nowhere.write("a line\n");
  nowhere.finish();
  CHECK_THAT(nowhere.problem(), Catch::Contains("No such file"));
}

TEST_CASE("Only regular files of a bounded size are read", "[runner][files]") {
  const tests::TemporaryDirectory temporary;
  const auto file = temporary / "file";
  std::ofstream(file) << "0123456789";
  CHECK(read_bounded(file, 10) == "0123456789");
  CHECK_FALSE(read_bounded(file, 9));
  CHECK(read_tail(file, 3) == "789");
  CHECK(read_tail(file, 30) == "0123456789");

  std::filesystem::create_symlink(file, temporary / "link");
  std::filesystem::create_directory(temporary / "directory");
  REQUIRE(::mkfifo((temporary / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"link", "directory", "fifo", "missing"}) {
    CAPTURE(name);
    CHECK_FALSE(read_bounded(temporary / name, 100));
    CHECK(read_tail(temporary / name, 100).empty());
  }
}

TEST_CASE("How an attempt ended reads back as it was written", "[runner][files]") {
  const tests::TemporaryDirectory temporary;
  runner::AttemptEnd end{
      runner::EndCause::kTimeLimit, {}, 15, "a \"detail\"", "node1", "0,1", "0-3", "t", 1.25};
  end.suspended_s = 2.5;
  end.output_problem = "stdout: full";
  runner::write_end(temporary.path(), end);
  const auto read = runner::read_end(temporary.path());
  REQUIRE(read);
  CHECK(read->cause == end.cause);
  CHECK(read->exit_code == end.exit_code);
  CHECK(read->signal == end.signal);
  CHECK(read->detail == end.detail);
  CHECK(read->host == end.host);
  CHECK(read->gpu == end.gpu);
  CHECK(read->cpus == end.cpus);
  CHECK(read->start == end.start);
  CHECK(read->duration_s == end.duration_s);
  CHECK(read->suspended_s == end.suspended_s);
  CHECK(read->output_problem == end.output_problem);

  const std::string whole = study::read_file(temporary / "exit");
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {  // ends with a line feed
    std::ofstream(temporary / "exit") << whole.substr(0, length);
    REQUIRE_FALSE(runner::read_end(temporary.path()));
  }
}

TEST_CASE("An attempt is claimed once", "[runner][files]") {
  const tests::TemporaryDirectory temporary;
  CHECK(runner::claim(temporary.path(), "me\n"));
  CHECK_FALSE(runner::claim(temporary.path(), "you\n"));
  CHECK(study::read_file(temporary / "claim/owner") == "me\n");
  CHECK_THROWS_AS(runner::claim(temporary / "missing", "me\n"), study::DirectoryError);
}

TEST_CASE("Attempt directories are found by their names", "[runner][files]") {
  const tests::TemporaryDirectory temporary;
  for (const char* name : {"0001.1", "0001.2", "10000.1", "x.1", "0002", "0003.x", ".4"}) {
    std::filesystem::create_directory(temporary / name);
  }
  const auto found = runner::attempt_directories(temporary.path());
  REQUIRE(found.size() == 2);
  CHECK(found.at(1).size() == 2);
  CHECK(found.at(10000) == std::vector<int>{1});
  CHECK(runner::attempt_directories(temporary / "missing").empty());
}

TEST_CASE("Times are UTC in ISO 8601 with milliseconds", "[runner][files]") {
  const std::string now = utc_now();
  REQUIRE(now.size() == std::string("2026-11-21T07:38:18.123Z").size());
  CHECK(now[10] == 'T');
  CHECK(now[19] == '.');
  CHECK(now.back() == 'Z');
}
