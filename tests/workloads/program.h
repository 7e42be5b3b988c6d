// A workload's program as a running process.
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

/// A directory for one test: the program's cache, output and messages.
struct ProgramDirectory {
  std::filesystem::path path;
  ProgramDirectory();
  ~ProgramDirectory();
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
  std::string read(const std::string& name) const;
};

/// Standard output and error go to files `out` and `err` of the workplace, or `name.out` and
/// `name.err`. Ended with the object.
class Program {
 public:
  Program(const char* program, const ProgramDirectory& place, const Arguments& arguments,
          const Variables& environment = {}, const std::string& name = "",
          rlim_t memory_limit = RLIM_INFINITY);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits for its end; 128 and the signal where one ended it.
  int exit_code();
  std::vector<pid_t> children() const;
  /// As many at least; the test fails where they are not there in half a minute.
  std::vector<pid_t> wait_for_children(std::size_t count) const;

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
};

/// True once no such process is left, or it is a zombie that waits for the system to collect it.
bool gone(pid_t pid);

/// Whether oneDNN computes in bf16 here: its documentation, "Data Types", asks for AVX-512 with BW,
/// DQ and VL.
bool has_bf16();

Arguments with(Arguments arguments, const Arguments& more);

/// The environment of a run that is asked and answered through request.json and result.json.
Variables by_files(const ProgramDirectory& place);

/// The result of a run that is asked so, and must end with code 0.
Json answer_to(const char* program, const ProgramDirectory& place, const Json& request,
               const Variables& environment = {});

}  // namespace doetune::workloads::test
