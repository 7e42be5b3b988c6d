// Available memory, from simulated system directories.
#include <catch2/catch.hpp>

#include <fstream>
#include <limits>

#include "tests/temporary_directory.h"
#include "workloads/infeasible.h"
#include "workloads/memory.h"

using doetune::tests::TemporaryDirectory;
using doetune::workloads::available_memory;
using doetune::workloads::Infeasible;
using doetune::workloads::require_memory;

namespace {

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("available memory is the least of the system's and of what limits leave", "[memory]") {
  const TemporaryDirectory directory;
  const std::filesystem::path root = directory.path();
  CHECK(available_memory(root) == std::numeric_limits<std::int64_t>::max());
  write_file(root / "proc/meminfo", "MemTotal: 9 kB\nMemFree: 3 kB\nMemAvailable:    1000 kB\n");
  CHECK(available_memory(root) == 1'024'000);

  write_file(root / "proc/self/cgroup", "0::/jobs/one\n");
  const auto groups = root / "sys/fs/cgroup";
  write_file(groups / "jobs/one/memory.max", "max\n");
  write_file(groups / "jobs/one/memory.current", "5000\n");
  CHECK(available_memory(root) == 1'024'000);
  write_file(groups / "jobs/memory.max", "90000\n");  // the parent group
  write_file(groups / "jobs/memory.current", "60000\n");
  write_file(groups / "jobs/memory.stat", "anon 1\ninactive_file 2500\n");
  CHECK(available_memory(root) == 32'500);

  write_file(root / "proc/self/cgroup", "4:cpu,memory:/job\n0::/\n");  // version 1
  write_file(groups / "memory/job/memory.limit_in_bytes", "7000\n");
  write_file(groups / "memory/job/memory.usage_in_bytes", "8000\n");
  CHECK(available_memory(root) == 0);
  write_file(groups / "memory/job/memory.limit_in_bytes", "9223372036854771712\n");  // no limit
  CHECK(available_memory(root) == 1'024'000);
}

TEST_CASE("memory that a control group does not leave is refused, with what it was for",
          "[memory]") {
  const TemporaryDirectory directory;
  const std::filesystem::path root = directory.path();
  CHECK_NOTHROW(require_memory(1 << 30, "images", root));  // nothing is known
  write_file(root / "proc/meminfo", "MemAvailable: 1000000 kB\n");
  write_file(root / "proc/self/cgroup", "0::/job\n");
  write_file(root / "sys/fs/cgroup/job/memory.max", "90000\n");
  write_file(root / "sys/fs/cgroup/job/memory.current", "60000\n");
  CHECK_NOTHROW(require_memory(30'000, "images", root));
  CHECK_THROWS_AS(require_memory(30'001, "images", root), Infeasible);
  CHECK_THROWS_WITH(require_memory(30'001, "images", root),
                    "not enough memory for images: 30001 bytes requested, 30000 available");
}
