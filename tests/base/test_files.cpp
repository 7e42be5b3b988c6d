// A file holds what it held or all that is new, whatever the disk refuses.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/hash.h"
#include "tests/temporary_directory.h"

namespace {

using namespace doetune;
using doetune::tests::TemporaryDirectory;
namespace fs = std::filesystem;
using Catch::Contains;

bool disk_fails = false;
bool name_fails = false;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t files_in(const fs::path& directory) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(directory), {}));
}

}  // namespace

// In place of the C library's, in this program.
extern "C" int fsync(int file) {
  if (!disk_fails) return static_cast<int>(syscall(SYS_fsync, file));
  errno = EIO;
  return -1;
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (!name_fails) return renameat(AT_FDCWD, from, AT_FDCWD, to);
  errno = EROFS;
  return -1;
}

TEST_CASE("a file is replaced as a whole, and nothing else is left", "[files]") {
  const TemporaryDirectory scratch;
  const fs::path file = scratch / "file";
  for (const Durability durability : {Durability::renamed, Durability::on_disk})
    for (const std::string& text :
         {std::string("a\0b", 3), std::string(1 << 20, 'x'), std::string()}) {
      replace_file(file, text, durability);
      CHECK(read(file) == text);
      CHECK(files_in(scratch.path()) == 1);
    }
}

TEST_CASE("what the disk refuses is reported by name and reason, and the file stays as it was",
          "[files]") {
  const TemporaryDirectory scratch;
  const fs::path file = scratch / "file";
  replace_file(file, "old");
  const auto refused = [&](const char* reason) {
    CHECK_THROWS_WITH(replace_file(file, std::string(100'000, 'n'), Durability::on_disk),
                      Contains("cannot write " + file.string()) && Contains(reason));
    CHECK(read(file) == "old");
    CHECK(files_in(scratch.path()) == 1);
  };
  disk_fails = true;
  refused("Input/output error");
  disk_fails = false;
  name_fails = true;
  refused("Read-only file system");
  name_fails = false;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{50'000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);  // as a disk that is full half way
  refused("File too large");
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK_THROWS_WITH(replace_file(scratch / "none" / "file", "new"), Contains("No such file"));
  fs::create_directories(scratch / "directory" / "of");
  CHECK_THROWS_WITH(replace_file(scratch / "directory", "new"), Contains("Is a directory"));
}

TEST_CASE("what a killed writer left is removed, what others write is not", "[files]") {
  const TemporaryDirectory scratch;
  // Above the kernel's largest process number, 2^22; this process; another file's; and others'.
  const auto left = {"file.999999999.partial", "file.1000000000.partial"};
  const std::vector<std::string> kept{"file",
                                      "file." + std::to_string(getpid()) + ".partial",
                                      "file2.999999999.partial",
                                      "file.x.partial",
                                      "file.999999999",
                                      "file.999999999.partial.old"};
  for (const std::string& name : kept) std::ofstream(scratch / name) << "x";
  for (const char* name : left) std::ofstream(scratch / name) << "x";
  remove_left_behind(scratch / "file");
  for (const std::string& name : kept) CHECK(fs::exists(scratch / name));
  for (const char* name : left) CHECK_FALSE(fs::exists(scratch / name));
  CHECK_NOTHROW(remove_left_behind(scratch / "none" / "file"));
}

TEST_CASE("bytes have the checksums that FNV's authors publish", "[files]") {
  // test_fnv.c of the reference implementation (isthe.com/chongo/tech/comp/fnv).
  CHECK(fnv1a(std::string_view()) == 0xCBF29CE484222325ULL);
  CHECK(fnv1a("a") == 0xAF63DC4C8601EC8CULL);
  CHECK(fnv1a("foobar") == 0x85944171F73967E8ULL);
  CHECK(fnv1a_32("") == 0x811C9DC5U);
  CHECK(fnv1a_32("a") == 0xE40C292CU);
  CHECK(fnv1a_32("foobar") == 0xBF9CF968U);
  CHECK(text_hash("a") == "af63dc4c8601ec8c");
}
