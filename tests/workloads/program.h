// A workload program as a running process.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace doetune::workloads::test {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

/// A directory for one test, with the program's cache, output and messages.
struct ProgramDirectory {
  std::filesystem::path path;
  ProgramDirectory();
  ~ProgramDirectory();
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
  std::string read(const std::string& name) const;
};

/// Standard output and error go to files `out` and `err` of the directory, or `name.out` and
/// `name.err`. The process is killed with the object.
class Program {
 public:
  Program(const char* program, const ProgramDirectory& scratch, const Arguments& arguments,
          const Variables& environment = {}, const std::string& name = "",
          rlim_t memory_limit = RLIM_INFINITY);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits for its end; 128 + the signal where one ended it.
  int exit_code();
  std::vector<pid_t> children() const { return children_of(pid_); }
  static std::vector<pid_t> children_of(pid_t pid);
  /// At least `count`; the test fails where they are not there within half a minute.
  std::vector<pid_t> wait_for_children(std::size_t count) const;

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
};

/// The processes of `count` ranks, which mpirun has started for a program.
std::vector<pid_t> ranks_of(const Program& program, std::size_t count);

/// Whether no such process is left, or it is a zombie that has yet to be reaped.
bool gone(pid_t pid);

/// Whether oneDNN computes in bf16 here: its documentation, "Data Types", requires AVX-512 with BW,
/// DQ and VL.
bool has_bf16();

Arguments with(Arguments arguments, const Arguments& more);

/// The environment of a run that uses request.json and result.json.
Variables by_files(const ProgramDirectory& scratch);

/// The result of such a run, which must end with code 0.
Json answer_to(const char* program, const ProgramDirectory& scratch, const Json& request,
               const Variables& environment = {});

}  // namespace doetune::workloads::test
